//! Launch files and command lines: variables by their names, addresses with offsets, repeated launches, and what is an error in them.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use tempfile::TempDir;
use vop_arrays::{Array, Description, Element, Format};
use vop_run::job::{CommandLine, Job, RunOptions, Summary};
use vop_run::{LaunchOptions, RunErrorKind, RunErrors};

/// `scale(int*, int)` multiplies each element by `ns::factors[tid]`, adds its second parameter and `*where` points at what it also
/// writes to; `count` counts launches.
const PTX: &str = "
.version 8.0
.target sm_75
.address_size 64
.visible .const .align 4 .u32 _ZN2ns7factorsE[4] = {1, 1, 1, 1};
.visible .global .align 4 .b8 _ZL5bytes[12];
.visible .global .align 4 .u32 count;
.visible .global .align 16 .b128 wide;
.visible .global .align 8 .u64 where;
.visible .global .align 4 .f32 _ZN1a5gammaE = 0f3f800000;
.visible .global .align 4 .f32 _ZN1b5gammaE = 0f40000000;
.visible .entry _Z5scalePii(.param .u64 out, .param .u32 plus) {
    .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .pred %p;
    ld.param.u64 %rd1, [out];
    ld.param.u32 %r1, [plus];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd2, %r2, 4;
    add.s64 %rd3, %rd1, %rd2;
    mov.u64 %rd4, _ZN2ns7factorsE;
    add.s64 %rd5, %rd4, %rd2;
    ld.const.u32 %r3, [%rd5];
    ld.u32 %r4, [%rd3];
    mad.lo.u32 %r5, %r4, %r3, %r1;
    st.u32 [%rd3], %r5;
    setp.ne.u32 %p, %r2, 0;
    @%p bra END;
    ld.global.u32 %r6, [count];
    add.u32 %r6, %r6, 1;
    st.global.u32 [count], %r6;
    ld.global.u64 %rd6, [where];
    setp.eq.u64 %p, %rd6, 0;
    @%p bra END;
    st.u32 [%rd6], %r5;
END:
    ret;
}
.visible .entry _Z5scalePfi(.param .u64 out, .param .u32 plus) { ret; }
.visible .entry _ZN2ns4fillIiEEvPT_i(.param .u64 out, .param .u32 plus) { ret; }
.visible .entry _ZN1a4fillIfEEvPT_i(.param .u64 out, .param .u32 plus) { ret; }
.visible .entry _ZN1b4fillIfEEvPT_i(.param .u64 out, .param .u32 plus) { ret; }
.visible .entry _Z4pairP1S(.param .u64 out, .param .align 8 .b8 s[16]) {
    .reg .b32 %r<3>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [out];
    ld.param.u64 %rd2, [s];
    ld.param.u32 %r1, [s+8];
    st.u32 [%rd2], %r1;
    ret;
}
";

fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ptx"), PTX).unwrap();
    folder
}

fn run_text(folder: &TempDir, text: &str) -> Result<Summary, RunErrors> {
    run(folder, text)
}

fn run(folder: &TempDir, text: &str) -> Result<Summary, RunErrors> {
    let path = folder.path().join("job.toml");
    std::fs::write(&path, format!("ptx = \"k.ptx\"\n{text}")).unwrap();
    Job::read(&path)?.run(&RunOptions::default(), &mut |_| ())
}

/// The elements of a file that was saved.
fn words(folder: &TempDir, name: &str) -> Vec<u32> {
    let bytes = std::fs::read(folder.path().join(name)).unwrap();
    bytes[128..].chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
}

/// All errors: what each points at, its message and its help.
fn errors(result: Result<Summary, RunErrors>) -> Vec<(String, String, String)> {
    let errors = result.unwrap_err().0;
    let of = |error: &vop_run::RunError| {
        let place = error.place.as_ref().map_or(String::new(), |place| place.text.clone());
        (place, error.message.clone(), error.help.clone().unwrap_or_default())
    };
    errors.iter().map(of).collect()
}

const SCALE: &str = "
[buffers]
out = { type = \"u32\", values = [10, 20, 30, 40], save = \"out.npy\" }
[[launch]]
entry = \"scale(int*, int)\"
grid = 1
block = 4
args = [\"out\", { u32 = 5 }]
";

#[test]
fn variables_are_filled_and_saved() {
    let folder = folder();
    std::fs::write(folder.path().join("f.raw"), [9u32, 8, 7, 6].map(u32::to_le_bytes).concat()).unwrap();
    let half = "[variables]\n\"a::gamma\" = { type = \"f32\", values = [0.5], save = \"half.npy\" }";
    run(&folder, &format!("{half}\n{SCALE}")).unwrap();
    let counted = "count = { save = \"count.npy\" }";
    for (variables, out) in [
        ("", [15, 25, 35, 45]),
        ("\"ns::factors\" = { type = \"u32\", values = [1, 2, 3, 4], save = \"f.npy\" }", [15, 45, 95, 165]),
        ("_ZN2ns7factorsE = { type = \"u32\", values = [1, 2, 3, 4] }", [15, 45, 95, 165]),
        ("factors = { file = \"f.npy\" }", [15, 45, 95, 165]),
        ("factors = { file = \"f.raw\" }", [95, 165, 215, 245]),
        ("factors = { type = \"i32\", fill = 2 }", [25, 45, 65, 85]),
        ("factors = { type = \"u32\", values = [3], offset = 8 }", [15, 25, 95, 45]),
        ("factors = { type = \"u16\", values = [2, 0, 2], offset = 0 }", [25, 20 * 2 + 5, 35, 45]),
        // The type is that of the declaration.
        ("factors = { values = [1, 2, 3, 4] }", [15, 45, 95, 165]),
        ("factors = { fill = 2 }", [25, 45, 65, 85]),
        ("factors = { values = [3], offset = 8 }", [15, 25, 95, 45]),
        ("factors = { fill = 3, shape = [2], offset = 8 }", [15, 25, 95, 125]),
        ("\"a::gamma\" = { values = [0.5], expect = \"half.npy\" }", [15, 25, 35, 45]),
    ] {
        let summary = run(&folder, &format!("[variables]\n{counted}\n{variables}\n{SCALE}")).unwrap();
        assert_eq!(summary.launches[0].entry, "_Z5scalePii");
        assert!(summary.comparisons.iter().all(|comparison| comparison.differing == 0), "{variables}");
        assert_eq!((words(&folder, "out.npy"), words(&folder, "count.npy")), (out.to_vec(), vec![1]), "{variables}");
    }
    assert_eq!(words(&folder, "f.npy"), [1, 2, 3, 4]);
    // Compared, as what it is declared, and as something else.
    let compared = |expect: &str| {
        let text = format!("[variables]\nfactors = {{ type = \"u32\", values = [1, 2, 3, 4], {expect} }}\n{SCALE}");
        run(&folder, &text).unwrap().comparisons[0].differing
    };
    assert_eq!((compared("expect = \"f.npy\""), compared("expect = \"f.raw\"")), (0, 4));
    assert!(Job::read(&folder.path().join("job.toml")).unwrap().compares());
    let text = format!("[variables]\nbytes = {{ type = \"f32\", values = [1, 2, 3], save = \"b.npy\" }}\n{SCALE}");
    run(&folder, &text).unwrap();
    assert_eq!(words(&folder, "b.npy"), [1f32, 2.0, 3.0].map(f32::to_bits));
}

#[test]
fn what_is_wrong_with_a_variable_is_said() {
    let folder = folder();
    std::fs::write(folder.path().join("long.raw"), [0; 20]).unwrap();
    for (variable, message, help) in [
        (
            "missing = { save = \"x.npy\" }",
            "the module has no variable `missing`",
            "it has `ns::factors`, `bytes`, `count`",
        ),
        ("gamma = { save = \"x.npy\" }", "`gamma` may be any of 2 variables", "`_ZN1a5gammaE`, `_ZN1b5gammaE`"),
        ("count = 7", "invalid type: integer `7`, expected a table, such as { type", ""),
        ("count = {}", "nothing is done with variable `count`", "fill it with"),
        ("count = { fill = 0.5 }", "0.5 is no u32", "the module declares `count` as .u32: write the `type`"),
        ("count = { fill = -1 }", "-1 is no u32", ""),
        ("bytes = { values = [1, 2, 3] }", "u8 [3] has 3 bytes, and variable `bytes` 12 bytes", "as .b8, as compilers"),
        ("bytes = { values = [0.5, 1, 2] }", "0.5 is no u8", "type = \"f32\""),
        ("wide = { values = [1] }", "the type of what fills variable `wide` is not said", "`wide` as .b128"),
        ("count = { values = [1], shape = [2] }", "1 values are not of shape [2]", ""),
        ("count = { values = [1], fill = 1 }", "variable `count` has more than one of", ""),
        (
            "where = { addresses = [\"out\"], type = \"u32\" }",
            "variable `where` has `addresses`, which make it a u64",
            "",
        ),
        ("count = { type = \"u32\", values = [1, 2] }", "u32 [2] has 8 bytes, and variable `count` 4 bytes", ""),
        (
            "count = { type = \"u8\", values = [1] }",
            "u8 [1] has 1 byte, and variable `count` 4 bytes",
            "`offset = 0` fills",
        ),
        ("count = { type = \"u8\", values = [1], offset = 4 }", "variable `count` 0 bytes behind the offset 4", ""),
        ("count = { type = \"u8\", values = [1], offset = 99 }", "variable `count` 0 bytes behind the offset 99", ""),
        (
            "count = { type = \"u64\", fill = 1, shape = [1] }",
            "u64 [1] is more than the 4 bytes of variable `count`",
            "",
        ),
        ("factors = { file = \"long.raw\" }", "u32 [5] has 20 bytes, and variable `factors` 16 bytes", ""),
        ("factors = { file = \"none.npy\" }", "cannot read", ""),
        ("where = { addresses = [\"nothing\"] }", "there is no buffer `nothing`", "the buffers are `out`"),
        (
            "where = { addresses = [{ address = \"nothing\" }] }",
            "no buffer and no variable `nothing`",
            "there are `out`, `ns::factors`",
        ),
        (
            "where = { addresses = [{ address = \"out\", offset = 17 }] }",
            "byte 17 is beyond the end of `out`, which has 16",
            "",
        ),
        ("where = { addresses = [{ address = \"out\", to = 1 }] }", "an address is `{ address", ""),
        ("where = { addresses = [4] }", "an address is the name of a buffer", ""),
        ("count = { save = \"x.jpg\" }", "cannot be saved", ""),
        ("count = { save = \"out.npy\" }", "would be overwritten", ""),
    ] {
        let found = errors(run(&folder, &format!("[variables]\n{variable}\n{SCALE}")));
        let [(_, said, helped)] = &found[..] else { panic!("{variable}: {found:?}") };
        assert!(said.contains(message) && helped.contains(help), "{variable}: {found:?}");
    }
}

#[test]
fn a_buffer_that_does_nothing_is_an_error() {
    let folder = folder();
    let with = |more: &str| run(&folder, &SCALE.replace("[[launch]]", &format!("{more}\n[[launch]]")));
    let found =
        errors(with("spare = { type = \"u8\", shape = [4], save = \"s.npy\" }\nlist = { addresses = [\"spare\"] }"));
    let said: Vec<&str> = found.iter().map(|(_, message, _)| message.as_str()).collect();
    assert_eq!(said, ["nothing uses buffer `spare`", "nothing uses buffer `list`"]);
    // A variable that points at it uses it, also through a table.
    let points = "list = { addresses = [\"spare\"] }\nspare = { type = \"u32\", shape = [1], save = \"s.npy\" }\n[variables]\n\
         where = { addresses = [{ address = \"list\", offset = 8 }, ] }";
    with(points).unwrap_err(); // beyond its end by the write alone
    with(&points.replace("offset = 8", "offset = 4")).unwrap();
    for name in ["count", "\"ns::factors\"", "_ZN2ns7factorsE", "bytes"] {
        let unused = with(&format!("{name} = {{ type = \"u8\", shape = [4] }}"));
        let used = SCALE.replace("out = ", &format!("{name} = ")).replace(
            "[\"out\"",
            &format!("[{}", if name.starts_with('"') { name.to_owned() } else { format!("\"{name}\"") }),
        );
        for found in [unused, run(&folder, &used)].map(errors) {
            let [(_, message, help)] = &found[..] else { panic!("{found:?}") };
            assert!(message.ends_with("has the name of a variable of the module, which it does not fill"), "{message}");
            assert!(help.contains("[variables]"), "{help}");
        }
    }
    // The last part of a name is no name.
    let used = SCALE.replace("out = ", "factors = ").replace("[\"out\"", "[\"factors\"");
    run(&folder, &used).unwrap();
}

#[test]
fn addresses_have_offsets() {
    let folder = folder();
    let run = |args: &str| {
        let text = SCALE
            .replace("args = [\"out\", { u32 = 5 }]", &format!("args = [{args}]"))
            .replace("block = 4", "block = 2");
        run(&folder, &text)
    };
    run("{ address = \"out\", offset = 8 }, { u32 = 5 }").unwrap();
    assert_eq!(words(&folder, "out.npy"), [10, 20, 35, 45]);
    run("{ address = \"out\" }, { u32 = 5 }").unwrap();
    assert_eq!(words(&folder, "out.npy"), [15, 25, 30, 40]);
    // To its end, where the kernel goes too far.
    let beyond = errors(run("{ address = \"out\", offset = 16 }, { u32 = 5 }"));
    assert!(beyond[0].1.contains("at byte 16 of `out`"), "{beyond:?}");
    for (arg, message) in [
        ("{ address = \"out\", offset = 17 }", "byte 17 is beyond the end of `out`, which has 16"),
        ("{ address = \"out\", offset = -4 }", "-4 is no offset"),
        ("{ address = \"out\", offset = 1.5 }", "1.5 is no offset"),
        ("{ address = \"out\", offset = \"n\" }", "\"n\" is no offset: it is a number of bytes, from 0"),
        ("{ address = 5 }", "an address is `{ address"),
    ] {
        let found = errors(run(&format!("{arg}, {{ u32 = 5 }}")));
        assert!(found.iter().any(|(place, said, _)| said.contains(message) && place == arg), "{arg}: {found:?}");
    }
    // In structures, and of variables.
    let text = "[variables]\nbytes = { save = \"b.npy\" }\n[buffers]\nout = { type = \"u32\", shape = [4], save = \"out.npy\" }\n";
    let launch = |place: &str| {
        format!("[[launch]]\nentry = \"pair\"\ngrid = 1\nblock = 1\nargs = [\"out\", [{place}, {{ u32 = 7 }}]]\n")
    };
    let text = format!(
        "{text}{}{}",
        launch("{ address = \"out\", offset = 4 }"),
        launch("{ address = \"bytes\", offset = 8 }")
    );
    run_text(&folder, &text).unwrap();
    assert_eq!(words(&folder, "out.npy"), [0, 7, 0, 0]);
    let bytes = std::fs::read(folder.path().join("b.npy")).unwrap();
    assert_eq!(bytes[128..], [0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0]);
}

#[test]
fn launches_are_repeated_with_changing_numbers() {
    let folder = folder();
    let run = |repeat: &str, launch: &str| {
        let text = SCALE.replace("grid = 1\nblock = 4\nargs = [\"out\", { u32 = 5 }]", launch);
        run(
            &folder,
            &text.replace(
                "[[launch]]",
                &format!("[variables]\ncount = {{ save = \"count.npy\" }}\n[[launch]]\n{repeat}"),
            ),
        )
    };
    const PLUS: &str = "grid = 1\nblock = 4\nargs = [\"out\", { u32 = \"n\" }]";
    for (repeat, launch, out, count) in [
        ("for = { n = [1, 10, 100] }", PLUS, [121, 131, 141, 151], 3),
        ("for = { n = { from = 1, to = 4 } }", PLUS, [20, 30, 40, 50], 4),
        ("for = { n = { from = 64, to = 1, times = 4 } }", PLUS, [95, 105, 115, 125], 4),
        ("for.n = [7]", PLUS, [17, 27, 37, 47], 1),
        (
            "for = { n = [1, 2], size = [4, 2], at = [0, 8] }",
            "grid = \"n\"\nblock = [\"size\"]\nargs = [{ address = \"out\", offset = \"at\" }, { u32 = 1 }]",
            [11, 21, 33, 43],
            3,
        ),
    ] {
        let summary = run(repeat, launch).unwrap();
        assert_eq!((words(&folder, "out.npy"), words(&folder, "count.npy")), (out.to_vec(), vec![count]), "{repeat}");
        assert!(summary.launches.iter().all(|launch| launch.index == 0 && !launch.round.is_empty()));
    }
    let summary = run("for = { n = [1, 10] }", PLUS).unwrap();
    assert_eq!(summary.launches[1].round, [("n".to_owned(), "10".to_owned())]);
    for (repeat, launch, place, message) in [
        ("for = { n = [1], m = [2] }", PLUS, "[2]", "nothing in the launch uses `m`"),
        (
            "for = { n = [1, 2], m = [2] }",
            "grid = \"m\"\nblock = 4\nargs = [\"out\", { u32 = \"n\" }]",
            "[1, 2]",
            "`n` has 2 numbers and `m` 1",
        ),
        ("for = { n = [] }", PLUS, "[]", "numbers are a list"),
        ("for = { n = 5 }", PLUS, "5", "numbers are a list"),
        ("for = { inf = [1] }", PLUS, "[1]", "`inf` is no name of a number"),
        ("for = { out = [1] }", PLUS, "[1]", "`out` is also a buffer"),
        ("for = { n = [-1] }", PLUS, "{ u32 = \"n\" }", "-1 is no u32"),
        ("for = { n = { from = 0, to = 1000000 } }", PLUS, "{ from = 0, to = 1000000 }", "more than 100000 launches"),
        (
            "for = { n = [4] }",
            "grid = 1\nblock = 4\nargs = [\"n\", { u32 = \"n\" }]",
            "\"n\"",
            "an argument is the name of a buffer",
        ),
    ] {
        let found = errors(run(repeat, launch));
        let [(found_place, said, _)] = &found[..] else { panic!("{repeat}: {found:?}") };
        assert!(said.contains(message) && found_place == place, "{repeat}: {found:?}");
    }
    // A name that no number has.
    for (launch, message) in [
        ("grid = \"n\"\nblock = 4\nargs = [\"out\", { u32 = 1 }]", "a size is a number"),
        ("grid = 1\nblock = [4, \"n\"]\nargs = [\"out\", { u32 = 1 }]", "a size is a number"),
        ("grid = 1\nblock = 4\nshared = \"n\"\nargs = [\"out\", { u32 = 1 }]", "`n` is no number"),
        ("grid = 1\nblock = 4\nargs = [\"out\", { u32 = \"n\" }]", "\"n\" is no u32"),
        ("grid = 1\nblock = 4\nargs = [{ address = \"out\", offset = \"n\" }, { u32 = 1 }]", "\"n\" is no offset"),
    ] {
        let found = errors(run("", launch));
        let [(_, said, help)] = &found[..] else { panic!("{launch}: {found:?}") };
        assert!(said.starts_with(message) && help.ends_with("for = { n = [1, 2, 4] }"), "{launch}: {found:?}");
    }
    // What is wrong with many is said once, with their number.
    let found =
        errors(run("for = { n = [1024, 1025, 2000, 2048] }", "grid = 1\nblock = \"n\"\nargs = [\"out\", { u32 = 1 }]"));
    let [(place, said, _)] = &found[..] else { panic!("{found:?}") };
    let expected = "the block's x is 1025: it must be 1 to 1024, in the launch with n = 1025, and in 2 more";
    assert_eq!((place.as_str(), said.as_str()), ("\"n\"", expected));
    let launch = "grid = 1\nblock = 2000\nargs = [\"out\", { u32 = 1 }]";
    let launch = SCALE.replace("grid = 1\nblock = 4\nargs = [\"out\", { u32 = 5 }]", launch);
    let again = &launch[launch.find("[[launch]]").unwrap()..];
    let found = errors(run_text(&folder, &format!("{launch}{again}")));
    let [(_, said, _)] = &found[..] else { panic!("{found:?}") };
    assert!(said.ends_with("1 to 1024 (and in 1 more launch)"), "{said}");
    // Which of them fails is said.
    let found = errors(run(
        "for = { at = { from = 0, to = 16, step = 8 } }",
        "grid = 1\nblock = 2\nargs = [{ address = \"out\", offset = \"at\" }, { u32 = 1 }]",
    ));
    assert!(found[0].1.ends_with(", in the launch with at = 16"), "{found:?}");
}

#[test]
fn kernels_have_names_of_c_plus_plus() {
    let folder = folder();
    let of = |entry: &str| run(&folder, &SCALE.replace("scale(int*, int)", entry));
    for entry in ["_Z5scalePii", "scale(int*, int)", "scale( int *,int )"] {
        of(entry).unwrap();
    }
    let found = errors(of("scale"));
    assert_eq!(
        (found[0].1.as_str(), found[0].2.as_str()),
        ("`scale` may be any of 2 entries", "write which: `scale(int*, int)`, `scale(float*, int)`")
    );
    let found = errors(of("scales"));
    assert_eq!((found[0].0.as_str(), found[0].1.as_str()), ("\"scales\"", "the module has no entry `scales`"));
    assert!(
        found[0].2.starts_with("it has `scale(int*, int)`, `scale(float*, int)`, `ns::fill<int>(int*, int)`"),
        "{found:?}"
    );
    let found = errors(run(&folder, &SCALE.replace("entry = \"scale(int*, int)\"\n", "")));
    assert!(found[0].2.ends_with("`b::fill<float>(float*, int)`, `pair(S*)`"), "{found:?}");
    // The end of a name.
    for entry in [
        "fill<int>",
        "fill<int>(int*, int)",
        "ns::fill",
        "ns::fill<int>",
        "b::fill",
        "void a::fill<float>(float*, int)",
    ] {
        of(entry).unwrap();
    }
    let found = errors(of("fill<float>"));
    assert_eq!(
        (found[0].1.as_str(), found[0].2.as_str()),
        (
            "`fill<float>` may be any of 2 entries",
            "write which: `a::fill<float>(float*, int)`, `b::fill<float>(float*, int)`"
        )
    );
    assert_eq!(errors(of("fill<double>"))[0].1, "the module has no entry `fill<double>`");
    let found = errors(run(&folder, &SCALE.replace(", { u32 = 5 }]", "]")));
    assert!(found[0].1.contains("of `scale(int*, int)`"), "{found:?}");
}

/// What files of elements say that they hold is compared with what is left of the memory before they are read: the picture is damaged.
#[test]
fn files_beyond_the_memory_are_not_read() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name);
    let array = |element, shape: &[u64]| {
        let description = Description { element, shape: shape.to_vec() };
        Array { bytes: vec![0; description.byte_len().unwrap() as usize], description }
    };
    let mut picture = array(Element::U8, &[4000, 4000]).encode(Format::Png).unwrap();
    let middle = picture.len() / 2;
    picture[middle..middle + 100].fill(0xff);
    std::fs::write(path("a.png"), picture).unwrap();
    std::fs::write(path("a.npy"), array(Element::U32, &[4_000_000]).encode(Format::Npy).unwrap()).unwrap();
    std::fs::write(path("a.raw"), vec![0; 16_000_000]).unwrap();
    let run = |memory: u64, buffer: &str| {
        let text = format!(
            "ptx = \"k.ptx\"\n[buffers]\nout = {{ {buffer} }}\n[[launch]]\nentry = \"scale(int*, int)\"\ngrid = 1\nblock = 1
            args = [\"out\", {{ u32 = 5 }}]"
        );
        std::fs::write(path("job.toml"), text).unwrap();
        let options = RunOptions::default().with_launch(LaunchOptions::default().with_memory(memory));
        Job::read(&path("job.toml"))?.run(&options, &mut |_| ())
    };
    for (buffer, good) in [
        ("file = \"a.png\"", false),
        ("file = \"a.npy\"", true),
        ("file = \"a.raw\", type = \"u8\"", true),
        ("file = \"a.raw\", type = \"u8\", shape = [4000, 4000]", true),
        ("type = \"u32\", shape = [4], expect = \"a.png\"", false),
    ] {
        let failed = run(1 << 20, buffer).unwrap_err().0.remove(0);
        assert_eq!((failed.kind, failed.kind.code()), (RunErrorKind::Memory, "V0632"), "{buffer}: {failed}");
        assert!(failed.message.contains(&path("a.").display().to_string()), "{failed}");
        assert!(failed.message.contains("16000000 bytes"), "{buffer}: {failed}");
        assert!(failed.help.as_ref().unwrap().contains("the limit of 1 MiB"), "{failed:?}");
        assert!(failed.place.is_some());
        match run(64 << 20, buffer) {
            Ok(_) => assert!(good, "{buffer}"),
            Err(errors) => assert!(!good && errors.0[0].kind == RunErrorKind::File, "{buffer}: {errors}"),
        }
    }
}

#[test]
fn a_command_line_has_variables_and_offsets() {
    let folder = folder();
    let path = |name: &str| folder.path().join(name).display().to_string();
    std::fs::write(path("in.raw"), [10u32, 20, 30, 40].map(u32::to_le_bytes).concat()).unwrap();
    let line = |args: &[&str], variables: &[&str]| {
        let line = CommandLine {
            ptx: folder.path().join("k.ptx"),
            entry: Some("scale(int*,int)".to_owned()),
            grid: "1".to_owned(),
            block: "2".to_owned(),
            shared: 0,
            cooperative: false,
            args: args.iter().map(|arg| arg.replace("IN", &path("in.raw")).replace("OUT", &path("out.npy"))).collect(),
            variables: variables
                .iter()
                .map(|v| v.replace("IN", &path("in.raw")).replace("OUT", &path("v.npy")))
                .collect(),
        };
        let errors = |errors: RunErrors| {
            let text = line.text();
            let of = |error: &vop_run::RunError| {
                let place = error.place.as_ref().map_or("", |place| &text[place.span.clone()]);
                (place.to_owned(), error.message.clone(), error.kind)
            };
            errors.0.iter().map(of).collect::<Vec<_>>()
        };
        line.job().and_then(|job| job.run(&RunOptions::default(), &mut |_| ())).map(|_| ()).map_err(errors)
    };
    line(&["out=u32@IN:OUT", "u32=1"], &["ns::factors=u32:1,2,3,4"]).unwrap();
    assert_eq!(words(&folder, "out.npy"), [11, 41, 30, 40]);
    line(&["out=u32@IN:OUT", "u32=1"], &["factors=u32@IN:OUT"]).unwrap();
    assert_eq!((words(&folder, "out.npy"), words(&folder, "v.npy")), (vec![101, 401, 30, 40], vec![10, 20, 30, 40]));
    line(&["out=u32@IN", "u32=1"], &["count=u32:9:OUT"]).unwrap();
    assert_eq!(words(&folder, "v.npy"), [10]);
    line(&["bytes+4", "u32=6"], &["bytes=:OUT", "count=u32:7"]).unwrap();
    assert_eq!(std::fs::read(path("v.npy")).unwrap()[128..], [0, 0, 0, 0, 6, 0, 0, 0, 6, 0, 0, 0]);
    for (args, variables, place, message) in [
        (&["out=u32@IN", "u32=1"][..], &["factors=u32"][..], "u32", "what the variable is filled with is not said"),
        (&["out=u32@IN", "u32=1"], &["factors"], "factors", "`factors` does not say what becomes of which variable"),
        (&["out=u32@IN", "u32=1"], &["factors=u32:1,x"], "x", "`x` is no u32"),
        (&["out=u32@IN", "u32=1"], &["none=u32:1"], "none=u32:1", "the module has no variable `none`"),
        (&["out=u32@IN", "u32=1"], &["count=u32:1", "count=u32:2"], "count=u32:2", "variable `count` is named twice"),
        (&["out=u32@IN", "u32=1"], &["factors=:"], ":", "no file stands after the `:`"),
        (&["out+4", "u32=1"], &[], "out+4", "no argument before makes a buffer `out`"),
        (&["out=u32@IN", "u32=1"], &["count=9"], "9", "there is no file `9` to fill `count` from"),
        (
            &["out=f64[9000, 100000]", "u32=1"],
            &[],
            "out=f64[9000, 100000]",
            "buffer `out` of f64 [9000, 100000] has 6.8 GiB: a buffer has 4 GiB at most",
        ),
        (
            &["out=u64[9000000000, 9000000000]", "u32=1"],
            &[],
            "out=u64[9000000000, 9000000000]",
            "buffer `out` of u64 [9000000000, 9000000000] has more bytes than 64 bits count: a buffer has 4 GiB at most",
        ),
        (
            &["count=u32[2]", "u32=1"],
            &[],
            "count=u32[2]",
            "buffer `count` has the name of a variable of the module, which it does not fill",
        ),
        (&["bytes+16", "u32=1"], &["bytes=:OUT"], "bytes+16", "byte 16 is beyond the end of `bytes`, which has 12"),
    ] {
        let found = line(args, variables).unwrap_err();
        let [(found_place, said, kind)] = &found[..] else { panic!("{args:?}, {variables:?}: {found:?}") };
        assert_eq!(
            (found_place.as_str(), said.as_str(), *kind),
            (place, message, RunErrorKind::CommandLine),
            "{args:?}, {variables:?}"
        );
    }
    assert!(Path::new(&path("v.npy")).exists());
}

/// `fetch` reads its texture at `%tid` of four threads, adds what `ns::ref` holds there, and writes to a surface; `old` names a reference.
const TEXTURES: &str = "
.version 8.0
.target sm_75
.address_size 64
.global .texref _ZN2ns3refE;
.visible .entry fetch(.param .u64 texture, .param .align 8 .b8 s[16]) {
    .reg .b32 %r<8>; .reg .f32 %f<12>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [texture];
    ld.param.u64 %rd2, [s];
    ld.param.f32 %f1, [s+8];
    mov.u32 %r1, %tid.x;
    cvt.rn.f32.u32 %f2, %r1;
    add.f32 %f2, %f2, %f1;
    tex.1d.v4.f32.f32 {%f3, %f4, %f5, %f6}, [%rd1, {%f2}];
    shl.b32 %r1, %r1, 2;
    sust.b.1d.b32.trap [%rd2, {%r1}], {%f3};
    ret;
}
.visible .entry old(.param .u64 out) {
    .reg .f32 %f<6>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [out];
    mov.f32 %f1, 0f3f800000;
    tex.1d.v4.f32.f32 {%f2, %f3, %f4, %f5}, [_ZN2ns3refE, {%f1}];
    st.global.f32 [%rd1], %f2;
    ret;
}
";

#[test]
fn textures_and_surfaces_are_arguments() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.ptx"), TEXTURES).unwrap();
    let fetch = |texture: &str| {
        format!(
            "[buffers]
            in = {{ type = \"u8\", values = [0, 51, 102, 255], shape = [4] }}
            out = {{ type = \"f32\", shape = [4], save = \"out.npy\" }}
            [textures]
            row = {{ buffer = \"in\", {texture} }}
            [surfaces]
            written = {{ buffer = \"out\" }}
            [[launch]]
            entry = \"fetch\"
            grid = 1
            block = 4
            args = [\"row\", [\"written\", {{ f32 = 0.5 }}]]"
        )
    };
    for (texture, expected) in [
        ("read = \"normalized\"", [0.0, 0.2, 0.4, 1.0]),
        ("read = \"element\", kind = \"1d\"", [0u32, 51, 102, 255].map(f32::from_bits)),
        // Only the first is inside.
        (
            "read = \"normalized\", normalized = true, address = [\"border\"], border = [0.5, 1, 1, 1]",
            [0.4, 0.5, 0.5, 0.5],
        ),
        ("read = \"normalized\", normalized = true, address = \"wrap\"", [0.4; 4]),
        ("read = \"normalized\", normalized = true, address = \"mirror\", filter = \"linear\"", [0.3; 4]),
        ("read = \"normalized\", srgb = true, channels = 4, kind = \"1d\"", [0.0; 4]),
    ] {
        // With channels it is one texel.
        let shape = if texture.contains("channels") { "255], shape = [1, 4]" } else { "255], shape = [4]" };
        let text = fetch(texture).replace("255], shape = [4]", shape);
        run(&folder, &text).unwrap_or_else(|error| panic!("{texture}: {error}"));
        let found: Vec<f32> = words(&folder, "out.npy").into_iter().map(f32::from_bits).collect();
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{texture}: {found} and not {expected}");
        }
    }
    // By a reference of the module, whose name the texture has.
    let old = "[buffers]\nin = { type = \"f32\", values = [1, 3] }\nout = { type = \"f32\", shape = [1], save = \"out.npy\" }\n\
               [textures]\n\"ns::ref\" = { buffer = \"in\", filter = \"linear\" }\n\
               [[launch]]\nentry = \"old\"\ngrid = 1\nblock = 1\nargs = [\"out\"]";
    run(&folder, old).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(words(&folder, "out.npy"), [2f32.to_bits()]);

    for (text, place, message) in [
        (fetch("filter = \"cubic\""), "", "unknown variant `cubic`, expected `point` or `linear`"),
        (fetch("sampler = 1"), "", "unknown field `sampler`, expected one of"),
        (fetch("filter = \"linear\""), "{ buffer", "a linear filter of u8 texels, which are read as integers"),
        (fetch("channels = 3"), "3", "u8 [4] has no last axis of 3 channels: texels have 1, 2 or 4"),
        (fetch("kind = \"3d\""), "{ buffer", "u8 [4] has 1 axes, too few or too many for 3d"),
        (
            fetch("address = [\"wrap\", \"wrap\", \"wrap\", \"wrap\"]"),
            "[\"wrap\"",
            "4 address modes: there are one to three axes",
        ),
        (fetch("file = \"x.png\""), "{ buffer", "texture `row` has neither a `buffer` nor a `file`, or both"),
        (
            fetch("srgb = false").replace("buffer = \"in\"", "buffer = \"missing\""),
            "\"missing\"",
            "there is no buffer `missing`",
        ),
        (
            fetch("srgb = false").replace("written = ", "in = "),
            "{ buffer",
            "surface `in` has the name of another buffer, texture or surface",
        ),
        (fetch("srgb = false").replace("[\"row\", [", "[{ u64 = 1 }, ["), "{ buffer", "nothing uses texture `row`"),
        (old.replace("[1, 3]", "[1, 3, 4]").replace("f32", "f64"), "{ buffer", "the texels of a texture are no f64"),
        (
            old.replace("[textures]\n\"ns::ref\" = { buffer = \"in\", filter = \"linear\" }\n", "")
                .replace("in = { type = \"f32\", values = [1, 3] }\n", ""),
            "tex.1d",
            "nothing is bound to the reference `ns::ref`",
        ),
    ] {
        let found = errors(run(&folder, &text));
        let fits = |(at, found, _): &(String, String, String)| at.starts_with(place) && found.contains(message);
        assert!(found.iter().any(fits), "{text}\n{place} {message}: {found:?}");
    }
}
