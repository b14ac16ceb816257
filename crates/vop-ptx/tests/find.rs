//! The finder, on source written the way projects write it.
//!
//! `data/find/NAME` is a source file and `data/find/NAME.found` what is to be found in it, a line an instruction:
//! line and column of its first byte, kind, text (line breaks and the like escaped as in Rust).
//! `VOP_BLESS=1 cargo test -p vop-ptx --test find` rewrites the expectations; read the difference before you keep it.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use vop_ptx::find::{Found, FoundKind, Language, PartialReason, find, may_contain};

fn sources() -> Vec<(PathBuf, Vec<u8>, Language)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/find");
    let mut files: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e != "found"))
        .map(|path| (path.clone(), fs::read(&path).unwrap(), Language::from_path(&path).unwrap()))
        .collect();
    files.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(files.len() > 10, "the data files are gone");
    files
}

fn position(source: &[u8], offset: usize) -> (usize, usize) {
    let before = &source[..offset];
    let line_start = before.iter().rposition(|&b| b == b'\n').map_or(0, |i| i + 1);
    (before.iter().filter(|&&b| b == b'\n').count() + 1, offset - line_start + 1)
}

fn kind(found: &Found) -> &'static str {
    match found.kind {
        FoundKind::Statement => "statement",
        FoundKind::Fragment => "fragment",
        FoundKind::Partial(PartialReason::Macro) => "partial (macro)",
        FoundKind::Partial(PartialReason::Format) => "partial (format)",
        FoundKind::Partial(PartialReason::CutShort) => "partial (cut short)",
        FoundKind::Partial(PartialReason::Operand) => "partial (operand)",
        FoundKind::Partial(PartialReason::Limit) => "partial (limit)",
        FoundKind::Partial(PartialReason::Branches) => "partial (branches)",
        FoundKind::Label => "label",
    }
}

fn report(source: &[u8], language: Language) -> String {
    let mut report = String::new();
    for found in find(source, language) {
        let (line, column) = position(source, found.source_offset(0));
        let text = found.text.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'");
        writeln!(report, "{line}:{column} {}: {text}", kind(&found)).unwrap();
    }
    report
}

#[test]
fn finds_what_the_files_hold() {
    let mut wrong = Vec::new();
    for (path, source, language) in sources() {
        let expected_path = PathBuf::from(format!("{}.found", path.display()));
        let actual = report(&source, language);
        if std::env::var_os("VOP_BLESS").is_some() {
            fs::write(&expected_path, &actual).unwrap();
        }
        let expected = fs::read_to_string(&expected_path).unwrap_or_default();
        if actual != expected {
            wrong.push(format!("{}\nexpected:\n{expected}\nfound:\n{actual}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A concatenation is found in a file that holds nothing else, too.
#[test]
fn concatenations_are_found_alone() {
    let mut lines = 0;
    for (path, source, language) in sources() {
        if path.file_stem().is_none_or(|stem| stem != "joined") {
            continue;
        }
        let source = String::from_utf8(source).unwrap();
        // Lines that begin with blanks are those of a longer literal.
        let holds = |line: &str| [".s33", ".s34", "%r4;", "d, a, b, c"].iter().any(|it| line.contains(it));
        for line in source.lines().filter(|line| !line.starts_with(' ') && holds(line)) {
            assert!(!find(line.as_bytes(), language).is_empty(), "{}: {line}", path.display());
            lines += 1;
        }
    }
    assert!(lines > 25, "{lines}");
}

/// What the offset map says of each letter of a mnemonic and its modifiers is where that letter stands.
#[test]
fn positions_are_those_of_the_letters() {
    let mut letters = 0;
    for (path, source, language) in sources() {
        for found in find(&source, language) {
            check_bounds(&source, &found);
            if matches!(found.kind, FoundKind::Partial(_)) {
                continue;
            }
            for (i, byte) in found.text.bytes().enumerate().take_while(|(_, b)| b.is_ascii_alphanumeric() || *b == b'.')
            {
                let at = match found.definition_span(i..i + 1) {
                    Some(place) => place.start,
                    None => found.source_offset(i),
                };
                // An escape sequence stands for a letter as a whole.
                let is_escape = source[at] == b'\\';
                assert!(is_escape || source[at] == byte, "{}: {} at {i} is not at {at}", path.display(), found.text);
                letters += 1;
            }
        }
    }
    assert!(letters > 1000);
}

#[test]
fn spans_stay_inside_the_literal_that_holds_their_start() {
    let source = br#"asm("vadd4.u32.u32.u32 " "%0, \
%1, %%r2, %[x];" : "=r"(a));"#;
    let found = find(source, Language::Cuda).remove(0);
    assert_eq!(found.text, "vadd4.u32.u32.u32 %0, %1, %r2, %x");
    let source_of = |part: &str| {
        let start = found.text.find(part).unwrap();
        &source[found.source_span(start..start + part.len())]
    };
    assert_eq!(source_of("vadd4"), b"vadd4");
    assert_eq!(source_of("%r2"), b"%%r2");
    assert_eq!(source_of("%x"), b"%[x]");
    assert_eq!(source_of("%0, %1"), b"%0, \\\n%1");
    assert_eq!(source_of("u32 %0, %1"), b"u32 ");
    let all = found.source_span(0..found.text.len());
    assert_eq!(&source[all], b"vadd4.u32.u32.u32 ");
    assert_eq!(found.source_offset(found.text.len()), found.source_offset(usize::MAX));
    assert_eq!(found.source_span(3..3), found.source_offset(3)..found.source_offset(3));
}

/// One number where `VOP_FULL` is set, as before a release, and otherwise another.
fn full_or(full: usize, otherwise: usize) -> usize {
    if std::env::var_os("VOP_FULL").is_some() { full } else { otherwise }
}

#[test]
fn every_prefix_is_read_without_harm() {
    for (_, source, language) in sources() {
        for end in (0..source.len()).step_by(full_or(1, 5)) {
            check(&source[..end], language);
        }
    }
}

#[test]
fn damaged_files_are_read_without_harm() {
    const SPLICES: [&[u8]; 24] = [
        b"\"", b"'", b"\\", b"\n", b"{", b"}", b"%", b"$", b"(", b")", b"#", b"\"\"\"", b"/*", b"*/", b"//", b"R\"(",
        b"\0", b"\xff", b"vadd4.", b"f\"", b"#if\n", b"+", b"asm(\"", b"\\\n",
    ];
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    for (_, source, language) in sources() {
        // The fuzz targets make more.
        for _ in 0..full_or(300, 60) {
            let mut damaged = source.clone();
            for _ in 0..=random.below(6) {
                let at = random.below(damaged.len());
                let end = (at + random.below(12)).min(damaged.len());
                match random.below(4) {
                    0 => drop(damaged.drain(at..end)),
                    1 => damaged[at] = u8::try_from(random.below(256)).unwrap(),
                    2 => drop(damaged.splice(at..end, SPLICES[random.below(SPLICES.len())].iter().copied())),
                    _ => drop(damaged.splice(at..at, SPLICES[random.below(SPLICES.len())].iter().copied())),
                }
            }
            check(&damaged, language);
        }
    }
}

/// Any language's lexer meets any language's files.
#[test]
fn files_in_the_wrong_language_are_read_without_harm() {
    for (_, source, _) in sources() {
        for language in Language::ALL {
            check(&source, language);
        }
    }
}

/// Neither the stack nor the clock runs out where a construct is opened again and again.
#[test]
fn endless_nesting_is_read_in_time() {
    for unit in [
        "concat!(",
        "asm!(\"{",
        "{",
        "(",
        "f\"{",
        "/*",
        "#if\n\"a\"",
        "\"vadd4.\" T ",
        "\"vadd4\" + f(",
        "\"vadd4\" * f[\"x\"](",
        "\"vadd4\" ~ \"x\".f(",
        "{vadd4.u32 x ",
        "\\\n",
        "'''",
        "${",
        "#define P(name) name() \"vset4.\"\n",
        "#define P(name )\\name()\"vset%\n",
    ] {
        let source = format!("\"vadd4.u32.u32.u32 a, b, c, d;\"\n{}", unit.repeat(full_or(50_000, 20_000)));
        for language in Language::ALL {
            let _ = find(source.as_bytes(), language);
        }
    }
}

/// Tags and conditionals that nothing closes, that are deep inside each other, or that have many branches take linear time.
#[test]
fn templates_are_read_in_time() {
    const MNEMONIC: &str = "vadd4.u32.u32.u32 d, a, b, c;";
    let many = |text: &str| format!("{MNEMONIC} {} {MNEMONIC}", text.repeat((1 << 19) / text.len()));
    let start = std::time::Instant::now();
    for source in [
        many("{% if x "),
        many("{% if x %}"),
        many("{% if x %}a{% else %}b{% endif %}"),
        many("{% if x %}{% elif y %}"),
        many("{% raw %}"),
        many("{# "),
        many("{{ x "),
        many("{{x"),
        many("${x"),
        many("<% if "),
        many("\\n% if x:"),
        many("{%r1, %r2}, "),
        many("{{if .X}}"),
        format!("{}{MNEMONIC}{}", "{% if x %}".repeat(10_000), "{% endif %}".repeat(10_000)),
    ] {
        let literal = format!("S = \"\"\"{source}\"\"\"");
        for (source, language) in
            [(&source, Language::JinjaCuda), (&source, Language::JinjaPtx), (&literal, Language::Python)]
        {
            assert!(!find(source.as_bytes(), language).is_empty(), "{}", &source[..80]);
        }
    }
    for source in ["#if 0\n", "#if 0\n#endif\n", "#if 1\n", "#if 0\n#elif 0\n", "#if ((((0\n", "#if X\n#elif 0\n"] {
        let source = format!("asm(\"{MNEMONIC}\");\n{}", source.repeat((1 << 19) / source.len()));
        assert!(!find(source.as_bytes(), Language::Cuda).is_empty());
    }
    // Minutes and more, where each is read to the end.
    assert!(start.elapsed() < std::time::Duration::from_secs(60), "{:?}", start.elapsed());
}

/// What macros would make without end, or of exponential size, is left as it is.
#[test]
fn macros_are_expanded_in_time() {
    use std::fmt::Write as _;
    let use_of = |define: &str, use_: &str| {
        format!("{define}\nvoid f() {{ asm({use_} \"vadd4.u32.u32.u32 %0, %1, %2, %3;\"); }}\n")
    };
    let mut doubling = String::new();
    let mut chain = String::from("#define C0 \"\"\n");
    let mut nested = String::from("x");
    for i in 0..100 {
        writeln!(doubling, "#define D{} D{i} D{i}", i + 1).unwrap();
    }
    for i in 0..20_000 {
        writeln!(chain, "#define C{} C{i}", i + 1).unwrap();
    }
    for _ in 0..2_000 {
        nested = format!("F({nested})");
    }
    doubling.push_str("#define D0 \"x\"\n");
    let many_uses = "S(vadd, 4)\n".repeat(20_000);
    let many_definitions = "#if A\n#define M \"vadd4\"\n#endif\n".repeat(5_000);
    let unread = format!(
        "#define ADD(op) asm(#op \"4.u32.u32.u32 %0, %1, %2, %3;\")\n{}void f() {{ {} }}",
        "#define N(op) asm(\"v\" #op \"4.u32.u32.u32 %0, %1, %2, %3;\")\n".repeat(500),
        "ADD(MINE); ".repeat(5_000)
    );
    for source in [
        use_of("#define A A A\n#define B C\n#define C B", "A B"),
        use_of(&doubling, "D100"),
        use_of(&chain, "C20000"),
        use_of("#define F(x) #x x x", &nested),
        use_of("#define F(x) x(x)(x)", "F(F)"),
        use_of("#define F(...) F(__VA_ARGS__, __VA_ARGS__) #__VA_ARGS__", "F(1, 2, 3)"),
        use_of("#define F(a, b) a##b##a", &format!("F({}, y)", "x".repeat(100_000))),
        use_of("#define S(x, n) asm(\"v\" #x #n \".u32.u32.u32 %0, %1, %2, %3;\")", &format!("); {many_uses} asm(")),
        use_of(&many_definitions, "M"),
        unread,
        "#define F(x) #x\nF(".repeat(20_000),
        format!("asm(\"vadd.u32.u32.u32 %0, %1.b%2, 0;\" : \"=r\"(d) : \"r\"(a), \"n\"({}1{}));", "(".repeat(50_000), ")".repeat(50_000)),
        format!("enum {{ {} }};\nasm(\"vadd.u32.u32.u32 %0, %1.b%2, 0;\" : \"=r\"(d) : \"r\"(a), \"n\"(E0));", "E, ".repeat(50_000)),
        "template<int I> void f() { asm(\"vadd.u32.u32.u32 %0, %1.b%2, 0;\" : \"=r\"(d) : \"r\"(a), \"n\"(I)); }\nf<1>();".repeat(2_000),
    ] {
        let _ = find(source.as_bytes(), Language::Cuda);
    }
}

#[test]
fn files_without_a_mnemonic_are_passed_over() {
    for no in [
        "",
        "v",
        "vad",
        "int vadd = 1;",
        "__vadd4(a, b)",
        "vmin(a, b)",
        "vmaxq_f32(a)",
        "my_vset.x",
        "vsetvl",
        "invadd.",
        "#define X(vmin, vmax) (vmin, \"v\")",
        "vshl",
        "\"v\" + version",
        "'v' + major + '.2.'",
    ] {
        assert!(!may_contain(no.as_bytes()), "{no}");
    }
    for yes in [
        "vadd4.u32",
        "\"vadd\" #N",
        "\\nvadd2.",
        "\\0Avadd.",
        "\\x0avadd.",
        "VABSDIFF4.U32",
        "varvg2.",
        "vmin{lanes}.",
        "vmad%d.",
        "vset\\\n.u32",
        "\"vavrg4\"\n\".u32\"",
        "#define OP(op) asm(\"v\" #op \"4\" T32)",
        "#define OP(op) asm(STR(v##op) T32)",
        "#define OP(op) asm(STR(op) T32)\nOP(vadd)",
        "\"v\" + op + \"4.\" + types",
        "'v' + op + '2.' + types",
    ] {
        assert!(may_contain(yes.as_bytes()), "{yes}");
    }
}

#[test]
fn languages_are_told_by_file_name() {
    let of = |name: &str| Language::from_path(Path::new(name));
    assert_eq!(of("a/b.cu"), Some(Language::Cuda));
    assert_eq!(of("a/B.HPP"), Some(Language::Cuda));
    assert_eq!(of("k.cl"), Some(Language::OpenCl));
    assert_eq!(of("k.py"), Some(Language::Python));
    assert_eq!(of("k.ll"), Some(Language::LlvmIr));
    assert_eq!(of("k.rs"), Some(Language::Rust));
    assert_eq!(of("k.ptx"), Some(Language::Ptx));
    assert_eq!(of("k.ii"), Some(Language::Cuda));
    assert_eq!(of("k.inc"), Some(Language::Cuda));
    assert_eq!(of("k.mlir"), Some(Language::Mlir));
    assert_eq!(of("README.md"), Some(Language::Markdown));
    assert_eq!(of("k.cu.j2"), Some(Language::JinjaCuda));
    assert_eq!(of("k.jinja"), Some(Language::JinjaCuda));
    assert_eq!(of("k.ptx.jinja2"), Some(Language::JinjaPtx));
    assert_eq!(of("k.py.j2"), Some(Language::Python));
    assert_eq!(of("notes.txt"), None);
    assert_eq!(of("Makefile"), None);
}

#[test]
fn languages_are_told_by_fences() {
    for (info, language) in [
        ("cuda", Some(Language::Cuda)),
        ("C++", Some(Language::Cuda)),
        ("rust,no_run", Some(Language::Rust)),
        ("{.ptx .numberLines}", Some(Language::Ptx)),
        ("{code-cell} ipython3", Some(Language::Python)),
        ("cpp title=\"a.cu\"", Some(Language::Cuda)),
        ("", None),
        ("console", None),
        ("text cuda", None),
    ] {
        assert_eq!(Language::from_fence(info), language, "{info}");
    }
}

fn check(source: &[u8], language: Language) {
    for found in find(source, language) {
        check_bounds(source, &found);
    }
}

fn check_bounds(source: &[u8], found: &Found) {
    assert!(!found.text.is_empty());
    for i in 0..=found.text.len() {
        assert!(found.source_offset(i) <= source.len());
        for end in [i, i + 1, found.text.len()] {
            let span = found.source_span(i..end);
            assert!(span.start <= span.end && span.end <= source.len());
        }
    }
}

/// xorshift64*.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        let high = usize::try_from(self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33).unwrap();
        high % bound.max(1)
    }
}
