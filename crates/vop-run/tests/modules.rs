//! Several modules in one memory: their variables are found by name and by address, and `.extern` ones are those of other modules.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use vop_run::{Kernel, LaunchOptions, Memory, Program, RunErrorKind};

const HEAD: &str = ".version 8.0 .target sm_75 .address_size 64\n";

/// `fill` writes its parameter to `a::table[tid]`, and `bump` adds to what a pointer points at.
const FIRST: &str = "
.visible .global .align 4 .u32 _ZN1a5tableE[8];
.global .align 4 .u32 hidden = 100;
.visible .const .align 4 .u32 shared_name = 11;
.visible .entry fill(.param .u32 value) {
    .reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u32 %r1, [value];
    mov.u32 %r2, %tid.x;
    mul.wide.u32 %rd1, %r2, 4;
    mov.u64 %rd2, _ZN1a5tableE;
    add.s64 %rd3, %rd2, %rd1;
    ld.const.u32 %r3, [shared_name];
    add.u32 %r1, %r1, %r3;
    st.global.u32 [%rd3], %r1;
    ret;
}
.visible .entry bump(.param .u64 place) {
    .reg .b32 %r<3>; .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [place];
    ld.global.u32 %r1, [%rd1];
    ld.global.u32 %r2, [hidden];
    add.u32 %r1, %r1, %r2;
    st.global.u32 [%rd1], %r1;
    ret;
}";

/// `sum` adds the table of the other module, and `own` is a variable of this one.
const SECOND: &str = "
.extern .global .align 4 .u32 _ZN1a5tableE[];
.global .align 4 .u32 hidden = 1;
.global .align 4 .u32 own = 5;
.visible .global .align 8 .u64 pointer = generic(_ZN1a5tableE)+8;
.const .align 4 .u32 shared_name = 22;
.visible .entry sum(.param .u64 out) {
    .reg .b32 %r<8>; .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [out];
    ld.global.u32 %r1, [_ZN1a5tableE];
    ld.global.u32 %r2, [_ZN1a5tableE+4];
    ld.global.u64 %rd2, [pointer];
    ld.u32 %r3, [%rd2];
    ld.global.u32 %r4, [hidden];
    ld.const.u32 %r5, [shared_name];
    add.u32 %r1, %r1, %r2;
    add.u32 %r1, %r1, %r3;
    add.u32 %r1, %r1, %r4;
    add.u32 %r1, %r1, %r5;
    st.global.u32 [%rd1], %r1;
    ret;
}";

fn read(text: &str) -> Program {
    Program::read(&format!("{HEAD}{text}"))
}

fn launch(kernel: &Kernel, threads: u32, args: &[vop_run::Arg], memory: &mut Memory) {
    kernel.launch([1; 3], [threads, 1, 1], args, memory, &LaunchOptions::default()).unwrap();
}

fn word(memory: &Memory, buffer: vop_run::BufferId, index: usize) -> u32 {
    u32::from_le_bytes(memory.bytes(buffer)[4 * index..][..4].try_into().unwrap())
}

#[test]
fn two_modules_share_a_memory() {
    let (first, second) = (read(FIRST), read(SECOND));
    let mut memory = Memory::default();
    let before = memory.allocate("before", [7; 4]);
    let [first, second] = &memory.load(&[&first, &second]).unwrap()[..] else { panic!() };
    let out = memory.allocate("out", [0; 4]);

    launch(&first.kernel("fill").unwrap(), 8, &[2u32.into()], &mut memory);
    let table = memory.find("a::table").unwrap();
    assert_eq!((word(&memory, table, 0), word(&memory, table, 7)), (13, 13));
    // The other module reads it, by name and through its pointer.
    launch(&second.kernel("sum").unwrap(), 1, &[out.into()], &mut memory);
    assert_eq!(word(&memory, out, 0), 13 * 3 + 1 + 22);
    // A pointer to a variable of one module is an argument of the other's kernel.
    let own = memory.find("own").unwrap();
    launch(&first.kernel("bump").unwrap(), 1, &[own.into()], &mut memory);
    assert_eq!(word(&memory, own, 0), 105);
    let inside = memory.address(own);
    launch(&first.kernel("bump").unwrap(), 1, &[inside.into()], &mut memory);
    assert_eq!(word(&memory, own, 0), 205);

    // By name.
    for name in ["_ZN1a5tableE", "a::table", "table"] {
        assert_eq!(memory.find(name), Some(table), "{name}");
        assert_eq!(first.variable(name), Some(table), "{name}");
        // Where it is declared `.extern` it is the same.
        assert_eq!(second.variable(name), Some(table), "{name}");
    }
    let [one, two] = [first, second].map(|program| program.variable("hidden").unwrap());
    assert_eq!((word(&memory, one, 0), word(&memory, two, 0)), (100, 1));
    assert_eq!(memory.find("hidden"), Some(one), "the first");
    assert_eq!((memory.find("before"), memory.find("missing"), first.variable("own")), (Some(before), None, None));
    assert_eq!((memory.name(table), memory.name(out)), (Some("_ZN1a5tableE"), Some("out")));

    // By address.
    let address = memory.address(table);
    assert_eq!(memory.locate(address), Some((table, 0)));
    assert_eq!(memory.locate(address + 31), Some((table, 31)));
    assert_eq!((memory.locate(address + 32), memory.locate(0), memory.locate(u64::MAX)), (None, None, None));
    assert_eq!(memory.locate(memory.address(before) + 3), Some((before, 3)));
    let pointer = second.variable("pointer").unwrap();
    let pointed = u64::from_le_bytes(memory.bytes(pointer).try_into().unwrap());
    assert_eq!(memory.locate(pointed), Some((table, 8)));
}

/// Modules that are loaded one after the other see each other's variables by address alone.
#[test]
fn separate_loads_are_not_linked() {
    let mut memory = Memory::default();
    let first = memory.load(&[&read(FIRST)]).unwrap().remove(0);
    let second = memory.load(&[&read(SECOND)]).unwrap().remove(0);
    let errors = second.kernel("sum").unwrap_err().0;
    assert!(errors[0].message.contains("is declared .extern"), "{errors:?}");
    launch(&first.kernel("fill").unwrap(), 1, &[1u32.into()], &mut memory);
    // A module is loaded as often as one likes, each time with variables of its own.
    let again = memory.load(&[&read(FIRST)]).unwrap().remove(0);
    let [one, two] = [&first, &again].map(|program| program.variable("table").unwrap());
    assert_ne!(one, two);
    assert_eq!((word(&memory, one, 0), word(&memory, two, 0)), (12, 0));
    let loaded = memory.load(&[&first]).unwrap().remove(0);
    assert_eq!(word(&memory, loaded.variable("table").unwrap(), 0), 0, "as its module says, not as the other is");
}

#[test]
fn linkage_decides_which_definition_counts() {
    let get = |declared: &str| {
        read(&format!(
            "{declared}\n.visible .entry get(.param .u64 out) {{
                .reg .b32 %r<2>; .reg .b64 %rd<2>;
                ld.param.u64 %rd1, [out];
                ld.global.u32 %r1, [x];
                st.global.u32 [%rd1], %r1;
                ret;
            }}"
        ))
    };
    let values = |declared: &[&str]| {
        let programs: Vec<Program> = declared.iter().map(|declared| get(declared)).collect();
        let mut memory = Memory::default();
        let loaded = memory.load(&programs.iter().collect::<Vec<_>>()).map_err(|errors| errors.0[0].clone())?;
        let out = memory.allocate("out", [0; 4]);
        let mut values = Vec::new();
        for program in loaded {
            let kernel = program.kernel("get").map_err(|errors| errors.0[0].clone())?;
            launch(&kernel, 1, &[out.into()], &mut memory);
            values.push(word(&memory, out, 0));
        }
        Ok::<_, vop_run::RunError>(values)
    };
    const EXTERN: &str = ".extern .global .u32 x;";
    for (declared, expected) in [
        (&[EXTERN, ".visible .global .u32 x = 3;"][..], &[3, 3][..]),
        (&[".visible .global .u32 x = 3;", EXTERN, EXTERN], &[3, 3, 3]),
        (&[".weak .global .u32 x = 1;", ".visible .global .u32 x = 3;"], &[3, 3]),
        (&[".weak .global .u32 x = 1;", ".weak .global .u32 x = 2;", EXTERN], &[1, 1, 1]),
        (&[".common .global .u32 x;", ".common .global .u32 x[2];", EXTERN], &[0, 0, 0]),
        // Without a linking directive it is the module's own.
        (&[".global .u32 x = 1;", ".global .u32 x = 2;", ".visible .global .u32 x = 3;"], &[1, 2, 3]),
        (&[".global .u32 x = 1;", ".visible .global .u32 x = 3;", EXTERN], &[1, 3, 3]),
    ] {
        assert_eq!(values(declared).unwrap(), expected, "{declared:?}");
    }
    for (declared, kind, message) in [
        (
            &[".visible .global .u32 x = 3;", ".visible .global .u32 x = 3;"][..],
            RunErrorKind::Link,
            "`x` is defined by two modules",
        ),
        (
            &[EXTERN, ".visible .global .u64 x = 3;"],
            RunErrorKind::Link,
            "`x` has 4 bytes here and 8 where it is defined",
        ),
        (&[EXTERN, ".visible .const .u32 x = 3;"], RunErrorKind::Link, "`x` is declared .global, and defined .const"),
        (&[EXTERN, ".global .u32 x = 3;"], RunErrorKind::Unsupported, "variable `x` is declared .extern"),
    ] {
        let error = values(declared).unwrap_err();
        assert!(error.kind == kind && error.message.contains(message), "{declared:?}: {error:?}");
    }
}

/// A kernel whose variables are in another memory is refused instead of reaching something else there.
#[test]
fn a_memory_without_the_module_is_refused() {
    let program = read(FIRST);
    let kernel = program.kernel("fill").unwrap();
    let refused = |memory: &mut Memory| {
        let launched = kernel.launch([1; 3], [1; 3], &[1u32.into()], memory, &LaunchOptions::default());
        launched.unwrap_err().0[0].message.clone()
    };
    let mut other = Memory::default();
    let wrong = "the variables of the module are not in this memory";
    assert_eq!(refused(&mut other), wrong);
    other.load(&[&program]).unwrap();
    assert_eq!(refused(&mut other), wrong, "they are elsewhere there");
    launch(&kernel, 1, &[1u32.into()], &mut program.memory());
    launch(&program.clone().kernel("fill").unwrap(), 1, &[1u32.into()], &mut program.memory().clone());
}

/// Functions of different modules have different addresses, and the heap is one.
#[test]
fn functions_and_the_heap() {
    let text = |number: u32| {
        format!(
            ".extern .func (.param .b64 r) malloc(.param .b64 n);
            .global .align 8 .u64 call = generic(number);
            .func (.reg .u32 r) number() {{ mov.u32 r, {number}; ret; }}
            .visible .entry run(.param .u64 f, .param .u64 out) {{
                .reg .b32 %r<2>; .reg .b64 %rd<4>;
                ld.param.u64 %rd1, [f];
                ld.param.u64 %rd2, [out];
                prototype: .callprototype (.reg .u32 _) _ ();
                call (%r1), %rd1, (), prototype;
                st.global.u32 [%rd2], %r1;
                ret;
            }}
            .visible .entry allocate(.param .u64 out) {{
                .reg .b64 %rd<4>; .param .b64 n; .param .b64 r;
                ld.param.u64 %rd1, [out];
                st.param.b64 [n], 16;
                call (r), malloc, (n);
                ld.param.b64 %rd2, [r];
                st.global.u64 [%rd1], %rd2;
                ret;
            }}"
        )
    };
    let mut memory = Memory::default();
    let loaded = memory.load(&[&read(&text(1)), &read(&text(2))]).unwrap();
    let out = memory.allocate("out", [0; 8]);
    let mut heaps = Vec::new();
    for (program, number) in loaded.iter().zip([1, 2]) {
        let function = u64::from_le_bytes(memory.bytes(program.variable("call").unwrap()).try_into().unwrap());
        launch(&program.kernel("run").unwrap(), 1, &[function.into(), out.into()], &mut memory);
        assert_eq!(word(&memory, out, 0), number);
        launch(&program.kernel("allocate").unwrap(), 1, &[out.into()], &mut memory);
        heaps.push(memory.locate(u64::from_le_bytes(memory.bytes(out).try_into().unwrap())).unwrap());
    }
    assert!(heaps[0].0 == heaps[1].0 && heaps[0].1 != heaps[1].1, "{heaps:?}");
    // One module has no functions of the other.
    let other = u64::from_le_bytes(memory.bytes(loaded[1].variable("call").unwrap()).try_into().unwrap());
    let kernel = loaded[0].kernel("run").unwrap();
    let failed = kernel.launch([1; 3], [1; 3], &[other.into(), out.into()], &mut memory, &LaunchOptions::default());
    assert!(failed.unwrap_err().0[0].message.contains("where no function is"));
}
