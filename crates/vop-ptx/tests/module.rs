//! The reader of PTX modules: that no byte is lost on any text, and that it finds what is there.

use std::fs;
use std::path::{Path, PathBuf};

use vop_ptx::module::lex::{integer, split_operands, without_trivia};
use vop_ptx::module::{FunctionKind, Linkage, Module, Pointer, Scalar, ScopeId, Space, Statement, StatementKind, Type};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn read(name: &str) -> String {
    fs::read_to_string(data().join(name)).expect("test data is there")
}

/// All PTX files of the test data, by name.
fn corpus() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for folder in [data(), data().join("nvcc")] {
        for entry in fs::read_dir(folder).expect("test data is there") {
            let path = entry.expect("the folder can be listed").path();
            if path.extension().is_some_and(|extension| extension == "ptx") {
                let text = fs::read_to_string(&path).expect("test data is UTF-8");
                files.push((path.display().to_string(), text));
            }
        }
    }
    assert!(files.len() >= 11, "only {} files", files.len());
    files
}

/// Checks everything that holds for every text, PTX or not.
#[track_caller]
fn sound(text: &str) -> Module {
    let module = Module::parse(text);
    assert_eq!(module.to_string(), text, "printed is not what was read");
    assert_eq!(module.text(), text);
    let mut at = 0;
    for (index, statement) in module.statements().iter().enumerate() {
        let span = &statement.span;
        assert!(at <= span.start && span.start < span.end, "statements overlap or are empty: {statement:?}");
        trivia_only(text.get(at..span.start).expect("spans end between characters"));
        let inside = text.get(span.clone()).expect("spans end between characters");
        assert_eq!(inside.trim_matches(|c: char| c <= ' '), inside, "blanks around {statement:?}");
        at = span.end;
        parts_within(&module, statement);
        let scope = &module.scopes()[statement.scope.index()];
        assert!(scope.span.start <= span.start && span.end <= scope.span.end, "{statement:?} is outside its scope");
        if let Some(line) = module.source_line(index) {
            assert!(text.contains(line.file) && line.line > 0);
        }
    }
    trivia_only(&text[at..]);
    for function in module.functions() {
        assert_eq!(module.statements()[function.statement].kind, StatementKind::FunctionHeader);
        assert_eq!(function.body.is_some(), function.scope.is_some());
        assert!(function.body.clone().is_none_or(|body| module.statements().get(body).is_some()));
    }
    module
}

/// An independent, slow reading of trivia.
#[track_caller]
fn trivia_only(gap: &str) {
    let mut rest = gap.trim_start_matches('\u{feff}');
    loop {
        rest = rest.trim_start_matches(|c: char| c <= ' ' || c == '\x7f');
        rest = if rest.starts_with("//") {
            rest.split_once('\n').map_or("", |(_, rest)| rest)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map_or("", |(_, rest)| rest)
        } else {
            break;
        };
    }
    assert_eq!(rest, "", "text between statements");
}

#[test]
#[should_panic(expected = "text between statements")]
fn lost_text_would_be_noticed() {
    trivia_only(" /* fine */ // fine\n ret;");
}

#[track_caller]
fn parts_within(module: &Module, statement: &Statement) {
    let within = |part: &std::ops::Range<usize>| {
        assert!(statement.span.start <= part.start && part.start <= part.end && part.end <= statement.span.end);
        assert!(module.text().get(part.clone()).is_some());
    };
    let scope = module.scope(statement.scope);
    match &statement.kind {
        StatementKind::Directive { name, arguments } => [name, arguments].into_iter().for_each(within),
        StatementKind::Section { name, contents } => [name, contents].into_iter().for_each(within),
        StatementKind::Instruction { guard, opcode, operands } => {
            guard.iter().chain([opcode, operands]).for_each(within);
        }
        StatementKind::Registers { declared } => {
            scope.registers()[declared.clone()].iter().for_each(|register| within(&register.name));
        }
        StatementKind::Variables { declared } => {
            scope.variables()[declared.clone()].iter().for_each(|variable| within(&variable.name));
        }
        StatementKind::Label { name } => within(name),
        _ => {}
    }
}

/// Every statement as a word for its kind and its text, for comparing with what is expected.
fn outline(module: &Module) -> Vec<(&'static str, &str)> {
    let statements = module.statements().iter();
    statements.map(|statement| (kind_name(&statement.kind), module.slice(&statement.span))).collect()
}

fn kind_name(kind: &StatementKind) -> &'static str {
    match kind {
        StatementKind::Directive { .. } => "directive",
        StatementKind::Registers { .. } => "registers",
        StatementKind::Variables { .. } => "variables",
        StatementKind::Label { .. } => "label",
        StatementKind::Instruction { .. } => "instruction",
        StatementKind::FunctionHeader => "header",
        StatementKind::ScopeOpen => "open",
        StatementKind::ScopeClose => "close",
        StatementKind::Section { .. } => "section",
        StatementKind::Preprocessor => "preprocessor",
        StatementKind::Other => "other",
    }
}

fn count(module: &Module, kind: &str) -> usize {
    module.statements().iter().filter(|statement| kind_name(&statement.kind) == kind).count()
}

fn opcodes(module: &Module) -> Vec<&str> {
    let statements = module.statements().iter();
    statements
        .filter_map(|statement| match &statement.kind {
            StatementKind::Instruction { opcode, .. } => Some(module.slice(opcode)),
            _ => None,
        })
        .collect()
}

const fn vector(scalar: Scalar, vector: u8) -> Type {
    Type { scalar, vector }
}

// Nothing is lost

#[test]
fn compiler_output_is_understood_and_printed_back() {
    for (name, text) in corpus() {
        for text in [text.clone(), text.replace('\n', "\r\n")] {
            let module = sound(&text);
            let other = module.statements().iter().find(|statement| statement.kind == StatementKind::Other);
            assert_eq!(other.map(|statement| module.slice(&statement.span)), None, "not understood in {name}");
            assert_eq!(count(&module, "open"), count(&module, "close"), "{name}");
        }
    }
}

#[test]
fn every_prefix_is_kept() {
    for name in ["clang.ptx", "gcc.ptx", "nvcc/inline-debug.ptx"] {
        let text = read(name);
        for (end, _) in text.char_indices() {
            sound(&text[..end]);
        }
    }
}

#[test]
fn random_changes_are_kept() {
    let mut random = Random(0x5EED);
    let originals = ["clang.ptx", "gcc.ptx", "nvcc/inline.ptx", "nvcc/printf-lineinfo.ptx"].map(read);
    const BYTES: &[u8] = b"{}()[];:,.\"\\/*#@!<>=%$_ \n\r\t\0aZ09\xc3\xa9\xff";
    for round in 0..4000 {
        let mut bytes = originals[round % originals.len()].clone().into_bytes();
        for _ in 0..=random.below(8) {
            let at = random.below(bytes.len());
            match random.below(4) {
                0 => drop(bytes.remove(at)),
                1 => bytes.insert(at, BYTES[random.below(BYTES.len())]),
                2 => bytes[at] = BYTES[random.below(BYTES.len())],
                _ => {
                    let end = (at + random.below(200)).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    let to = random.below(bytes.len());
                    bytes.splice(to..to, piece);
                }
            }
        }
        sound(&String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn random_tokens_are_kept() {
    const TOKENS: &[&str] = &[
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        ";",
        ":",
        "::",
        ",",
        ".",
        "\"",
        "\\\"",
        "/",
        "//",
        "/*",
        "*/",
        "#",
        "@",
        "@@",
        "!",
        "<",
        ">",
        "=",
        "+",
        " ",
        "\n",
        "\r\n",
        "\0",
        ".reg",
        ".b32",
        ".pred",
        ".param",
        ".global",
        ".align",
        ".ptr",
        ".entry ",
        ".func",
        ".pragma",
        ".section",
        ".loc",
        ".file",
        ".version",
        ".target",
        ".address_size",
        ".callprototype",
        ".visible",
        ".attribute",
        ".maxntid",
        ".later",
        "%r",
        "<4>",
        "x",
        "add.u32",
        "ld",
        "0x1F",
        "7",
        "é",
        "\u{feff}",
        "𝄞",
    ];
    let mut random = Random(0xC0FFEE);
    for _ in 0..20_000 {
        let length = random.below(40);
        let text: String = (0..length).map(|_| TOKENS[random.below(TOKENS.len())]).collect();
        sound(&text);
    }
}

#[test]
fn reading_is_linear_on_hostile_text() {
    let bits = [
        "a{",
        "{",
        "}",
        "a{b;",
        ".global .b8 x = {{ ",
        ".section x { ; ",
        ".section x { ",
        ".func .attribute( ; ",
        "/*",
        "\"",
        ".func a .pragma \"\"; .pragma \"\"; ",
        ".later ",
        ".reg .b32 a, ",
        "@p ",
        "x:",
        ".func f(",
        ".func f(.param .b32 a, ",
        "/",
        ".target a, ",
        "add/**/.u32 ",
        ".entry k .x ",
        ".func f ",
        ".func f() .noreturn .global .b32 ",
        ";",
        "(",
        "[",
        ".",
        "0",
        "{ .reg .b32 a; ",
    ];
    for bit in bits {
        // Were it quadratic, this would take hours.
        let text = bit.repeat(400_000);
        assert_eq!(Module::parse(text.as_str()).to_string(), text);
    }
}

#[test]
fn text_that_is_no_ptx_takes_few_statements() {
    for bit in [";", "{", "}", "(;", "{ ", "] ;\n"] {
        let module = sound(&bit.repeat(200_000));
        assert!(module.statements().len() < 20_000, "{bit:?}: {} statements", module.statements().len());
        assert!(module.scopes().len() <= 1001, "{bit:?}: {} scopes", module.scopes().len());
    }
    // Deep scopes are closed by their own braces.
    let deep = format!("{}add.u32 a, b, c; {}ret;", "{".repeat(5000), "}".repeat(5000));
    let module = sound(&deep);
    let last = module.statements().last().expect("there is one");
    assert_eq!((module.slice(&last.span), last.scope), ("ret;", ScopeId::MODULE));
    assert_eq!(count(&module, "instruction"), 2);
}

struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        // splitmix64
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % limit as u64) as usize
    }
}

#[test]
fn odd_text_is_kept_as_other() {
    let expect = |text, expected: &[(&str, &str)]| assert_eq!(outline(&sound(text)), expected, "{text:?}");
    expect("", &[]);
    expect(" \n // only a comment", &[]);
    expect("/* never closed ; }", &[]);
    expect("}", &[("other", "}")]);
    expect(";", &[("other", ";")]);
    expect("🦀 is no PTX", &[("other", "🦀 is no PTX")]);
    expect("add.u32 a, b // no end", &[("other", "add.u32 a, b")]);
    expect(".func f;{}", &[("header", ".func f;"), ("open", "{"), ("close", "}")]);
    assert_eq!(Module::parse(".func f;{}").functions()[0].body, None);
    // What follows a statement without its `;` is still found.
    expect("{ ret }\nexit;", &[("open", "{"), ("other", "ret"), ("close", "}"), ("instruction", "exit;")]);
    expect(
        "int main() { return 0; }",
        &[("other", "int main()"), ("open", "{"), ("instruction", "return 0;"), ("close", "}")],
    );
    expect(".version eight\n.target sm_90\n", &[("other", ".version eight"), ("directive", ".target sm_90")]);
    expect(".reg .e4m3 x; ret;", &[("other", ".reg .e4m3 x;"), ("instruction", "ret;")]);
    // A string ends with its line.
    expect(".pragma \"lost;\n; ret;", &[("directive", ".pragma \"lost;\n;"), ("instruction", "ret;")]);
}

// What is found

#[test]
fn every_instruction_of_nvcc_is_found() {
    for (name, text) in corpus() {
        if !name.contains("nvcc") || name.contains("inline") {
            continue; // One statement a line holds for nvcc, not for what people write in `asm`.
        }
        let module = Module::parse(text.as_str());
        let found: Vec<String> = opcodes(&module).iter().map(|opcode| opcode.to_string()).collect();
        assert!(found.len() > 20, "{name}");
        assert_eq!(found, naive_opcodes(&text), "{name}");
    }
}

/// The opcode of every line that starts like an instruction.
fn naive_opcodes(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(line) = line.strip_prefix('\t') else { continue };
        let mut words = line.split_whitespace().filter(|word| !word.starts_with('@'));
        let first = words.next().unwrap_or("").trim_end_matches(';');
        // The lines of a call between its first and its last start with a name, too.
        let of_call = line.ends_with(", ") && !line.starts_with("call") || line.starts_with("param");
        if first.starts_with(|c: char| c.is_ascii_lowercase()) && !of_call {
            found.push(first.to_string());
        }
    }
    found
}

#[test]
fn nvcc_printf() {
    let module = sound(&read("nvcc/printf.ptx"));
    assert_eq!(module.version(), Some((9, 5)));
    assert_eq!(module.target(), Some("sm_75"));
    assert_eq!(module.address_size(), Some(64));
    let names: Vec<&str> = module.functions().iter().map(|function| module.slice(&function.name)).collect();
    assert_eq!(names, ["vprintf", "_Z9factoriali", "shout"]);
    let [vprintf, factorial, shout] = module.functions() else { panic!() };
    assert_eq!((vprintf.kind, vprintf.linkage, &vprintf.body), (FunctionKind::Func, Some(Linkage::Extern), &None));
    assert_eq!((vprintf.results.len(), vprintf.parameters.len()), (1, 2));
    assert_eq!((factorial.kind, factorial.linkage), (FunctionKind::Func, None));
    assert_eq!((shout.kind, shout.linkage), (FunctionKind::Entry, Some(Linkage::Visible)));

    // Each of the three calls has its own scope, with its own names.
    let body = shout.scope.expect("shout has a body");
    let calls: Vec<_> = module.scopes().iter().filter(|scope| scope.parent == Some(body)).collect();
    assert_eq!(calls.len(), 3);
    for call in calls {
        assert_eq!(call.registers().len(), 1);
        assert_eq!(module.slice(&call.registers()[0].name), "temp_param_reg");
        assert!(call.variables().iter().all(|variable| variable.space == Space::Param));
    }
    let depot = module.variable(body, "__local_depot1", usize::MAX).expect("it is declared");
    assert_eq!((depot.space, depot.align, depot.bytes()), (Space::Local, Some(16), Some(16)));
    let parameter = module.variable(body, "shout_param_1", usize::MAX).expect("parameters are found from the body");
    assert_eq!((parameter.space, parameter.ty), (Space::Param, Type::scalar(Scalar::U32)));
    assert!(module.variable(factorial.scope.expect("it has a body"), "shout_param_1", usize::MAX).is_none());
}

#[test]
fn source_lines() {
    let module = sound(&read("nvcc/switch-lineinfo.ptx"));
    let line_of = |opcode: &str| {
        let statements = module.statements().iter();
        let is_it = |statement: &Statement| matches!(&statement.kind, StatementKind::Instruction { opcode: range, .. } if module.slice(range) == opcode);
        let index = statements.clone().position(is_it).expect("the instruction is there");
        module.source_line(index).map(|source| (source.file, source.line))
    };
    assert_eq!(line_of("brev.b32"), Some(("/tmp/kernels/switch.cu", 6)));
    // Inlined from a header.
    let atom = Some(("/usr/local/cuda/include/device_atomic_functions.hpp", 112));
    assert_eq!(line_of("atom.global.add.u32"), atom);

    let text =
        ".file 1 \"a.c\"\n.func f { add.u32 a, a, 1; .loc 1 7 3 add.u32 a, a, 2; .loc 1 0 3\nret; } .func g { ret; }";
    let module = sound(text);
    let lines: Vec<_> = (0..module.statements().len()).map(|index| module.source_line(index).map(|s| s.line)).collect();
    assert_eq!(lines, [None, None, None, None, Some(7), Some(7), None, None, None, None, None, None, None]);
}

#[test]
fn debug_sections_are_statements() {
    let module = sound(&read("nvcc/printf-debug.ptx"));
    let names: Vec<&str> = module
        .statements()
        .iter()
        .filter_map(|statement| match &statement.kind {
            StatementKind::Section { name, .. } => Some(module.slice(name)),
            _ => None,
        })
        .collect();
    assert_eq!(names, [".debug_abbrev", ".debug_info", ".debug_macinfo"]);
    assert_eq!(module.targets().collect::<Vec<_>>(), ["sm_75", "debug"]);
}

#[test]
fn inline_assembly_has_its_own_names() {
    let module = sound(&read("nvcc/inline.ptx"));
    let kernel = module.function("sad").expect("it is there");
    let video = opcodes(&module).into_iter().filter(|opcode| opcode.starts_with('v'));
    assert_eq!(video.collect::<Vec<_>>(), ["vabsdiff4.u32.u32.u32.add", "vadd2.s32.s32.s32.sat"]);
    let [_, _, first, second] = module.scopes() else { panic!() };
    assert_eq!((first.parent, second.parent), (kernel.scope, kernel.scope));
    let names: Vec<_> =
        first.registers().iter().map(|register| (module.slice(&register.name), register.count)).collect();
    assert_eq!(names, [("zero", None), ("%tmp", Some(4)), ("p", None)]);
    assert_eq!(second.registers()[0].ty, vector(Scalar::B32, 4));
    let label = &first.labels()[0];
    assert!(matches!(module.statements()[label.statement].kind, StatementKind::Label { .. }));
}

#[test]
fn clang() {
    let module = sound(&read("clang.ptx"));
    let names: Vec<&str> = module.functions().iter().map(|function| module.slice(&function.name)).collect();
    assert_eq!(names, ["vprintf", "trap_handler", "_Z4pairx", "_Z5applyPFiiEi", "kernel", "_Z4pairx"]);
    let [_, trap_handler, pair, apply, kernel, _] = module.functions() else { panic!() };
    assert_eq!(module.slice(&trap_handler.header), ".extern .func trap_handler\n()\n.noreturn;");
    assert_eq!(pair.linkage, Some(Linkage::Weak));
    assert_eq!(pair.results[0].dimensions, [Some(16)]);
    assert_eq!((pair.results[0].alignment(), pair.results[0].bytes()), (8, Some(16)));
    assert_eq!(pair.parameters[1].dimensions, [None]);
    assert_eq!(pair.parameters[1].bytes(), None);

    let directives: Vec<&str> = kernel.directives.iter().map(|range| module.slice(range)).collect();
    assert_eq!(directives, [".maxntid 256, 1, 1", ".minnctapersm 2"]);
    let pointers: Vec<_> = kernel.parameters.iter().map(|parameter| parameter.pointer).collect();
    let global = Pointer { space: Some(Space::Global), alignment: Some(4) };
    let generic = Pointer { space: None, alignment: Some(1) };
    assert_eq!(pointers, [Some(global), Some(generic), None]);
    // `.align` behind `.ptr` is not the parameter's own.
    assert_eq!(kernel.parameters.iter().map(|parameter| parameter.alignment()).collect::<Vec<_>>(), [8, 8, 4]);

    let variables: Vec<_> = module.scopes()[0]
        .variables()
        .iter()
        .map(|variable| {
            let initializer = variable.initializer.as_ref().map(|range| module.slice(range));
            (module.slice(&variable.name), variable.space, variable.ty, variable.bytes(), initializer)
        })
        .collect();
    assert_eq!(
        variables,
        [
            ("__const_$_str", Space::Global, vector(Scalar::B8, 1), Some(6), Some("{37, 100, 59, 123, 10}")),
            ("counter", Space::Global, vector(Scalar::U32, 1), Some(4), None),
            ("handlers", Space::Global, vector(Scalar::U64, 1), Some(16), Some("{counter, generic(counter)+4}")),
            ("smem", Space::Shared, vector(Scalar::B8, 1), None, None),
            ("corner", Space::Const, vector(Scalar::B32, 4), Some(16), Some("{1, 2, 3, 4}")),
            ("grid", Space::Global, vector(Scalar::B32, 1), Some(24), Some("{{1, 2, 3}, {4, 5, 6}}")),
        ]
    );

    let scope = apply.scope.expect("it has a body");
    let call = module.scopes().iter().position(|inner| inner.parent == Some(scope)).expect("the call has a scope");
    assert_eq!(module.scopes()[call].labels().len(), 1, "prototype_0");
    assert!(module.label(kernel.scope.expect("it has a body"), "$L_table").is_some());
    assert_eq!(count(&module, "section"), 2);
    assert_eq!(count(&module, "label"), 9);
}

#[test]
fn gcc() {
    let module = sound(&read("gcc.ptx"));
    assert_eq!(module.version(), Some((6, 0)));
    let bodies: Vec<bool> = module.functions().iter().map(|function| function.body.is_some()).collect();
    assert_eq!(bodies, [false, false, true, true]);
    let scale = module.function("scale").expect("it is defined");
    assert!(scale.body.is_some(), "the definition is found, not the declaration");
    let scope = scale.scope.expect("it has a body");
    assert_eq!(module.scope(scope).registers().len(), 8);
    assert_eq!(module.register(scope, "%r25", usize::MAX), Some(Type::scalar(Scalar::Pred)));
    assert_eq!(module.register(scope, "%in_ar0", usize::MAX), None);
    let guards: Vec<&str> = module
        .statements()
        .iter()
        .filter_map(|statement| match &statement.kind {
            StatementKind::Instruction { guard, .. } => guard.as_ref().map(|guard| module.slice(guard)),
            _ => None,
        })
        .collect();
    assert_eq!(guards, ["@%r25", "@ ! %r25"]);
}

#[test]
fn statements_need_no_lines() {
    let module = sound("A:B: @p ld.v2.u32{a,b},[c+4];/*x*/add /* of */ .u32 a,b,{c};{ret;}.loc 1 2 3 exit;");
    assert_eq!(
        outline(&module),
        [
            ("label", "A:"),
            ("label", "B:"),
            ("instruction", "@p ld.v2.u32{a,b},[c+4];"),
            ("instruction", "add /* of */ .u32 a,b,{c};"),
            ("open", "{"),
            ("instruction", "ret;"),
            ("close", "}"),
            ("directive", ".loc 1 2 3"),
            ("instruction", "exit;"),
        ]
    );
    let StatementKind::Instruction { opcode, operands, .. } = &module.statements()[3].kind else { panic!() };
    assert_eq!(without_trivia(module.slice(opcode)), "add.u32");
    assert_eq!(module.slice(operands), "a,b,{c}");
}

#[test]
fn instructions_in_parts() {
    let parts = |text: &str| {
        let module = sound(text);
        let [statement] = module.statements() else { panic!("one statement in {text}") };
        let StatementKind::Instruction { guard, opcode, operands } = &statement.kind else { panic!("{text}") };
        let guard = guard.as_ref().map_or("", |range| module.slice(range));
        [guard, module.slice(opcode), module.slice(operands)].map(String::from)
    };
    assert_eq!(parts("ret ;"), ["", "ret", ""]);
    assert_eq!(parts("@!%p1 bra\t$L1;"), ["@!%p1", "bra", "$L1"]);
    assert_eq!(parts("call (r), f, (a) /* ; */ // ;\n;"), ["", "call", "(r), f, (a)"]);
    let copy = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [a], [b], 16, [c];";
    let opcode = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
    assert_eq!(parts(copy), ["", opcode, "[a], [b], 16, [c]"]);
    let texture = "tex.2d.v4.f32.f32 {a, b, c, d}, [t, {x, y}];";
    assert_eq!(parts(texture), ["", "tex.2d.v4.f32.f32", "{a, b, c, d}, [t, {x, y}]"]);
}

#[test]
fn directives_of_all_kinds() {
    let text = concat!(
        "\u{feff}.version 8.0 .target sm_90a, texmode_independent\n.address_size 64\n",
        "# 1 \"k.cu\" 3\r\n",
        "@@DWARF .section .debug_info, \"\", @progbits\n",
        ".file 1 \"a \\\"b\\\".c\", 12, 13\n",
        ".pragma \"no;unroll\";\n",
        ".alias f, g;\n",
        ".later 1, 2\n.visible .later x;\n",
        ".later\n.global .b8 a;\0",
    );
    let module = sound(text);
    assert_eq!(
        outline(&module),
        [
            ("directive", ".version 8.0"),
            ("directive", ".target sm_90a, texmode_independent"),
            ("directive", ".address_size 64"),
            ("preprocessor", "# 1 \"k.cu\" 3"),
            ("directive", "@@DWARF .section .debug_info, \"\", @progbits"),
            ("directive", ".file 1 \"a \\\"b\\\".c\", 12, 13"),
            ("directive", ".pragma \"no;unroll\";"),
            ("directive", ".alias f, g;"),
            ("directive", ".later 1, 2"),
            ("directive", ".visible .later x;"),
            ("directive", ".later"),
            ("variables", ".global .b8 a;"),
        ]
    );
    let StatementKind::Directive { name, arguments } = &module.statements()[9].kind else { panic!() };
    assert_eq!((module.slice(name), module.slice(arguments)), (".later", "x"));
    assert_eq!(module.targets().collect::<Vec<_>>(), ["sm_90a", "texmode_independent"]);
}

#[test]
fn headers_of_all_kinds() {
    let text = "
        .entry a { ret; }
        .entry b .pragma \"nounroll\"; .pragma \"x\"; .maxnreg 16 { }
        .func .attribute(.unified(1, 2)) (.reg .f64 r) c (.reg .u32 %n<2>, .param .b32 _) .noreturn { }
        .visible .func d;
        .visible .func e();";
    let module = sound(text);
    assert_eq!(count(&module, "header"), 5);
    assert_eq!(count(&module, "other"), 0);
    let [a, b, c, d, e] = module.functions() else { panic!() };
    assert_eq!(a.body.clone().map(|body| body.len()), Some(1));
    let directives: Vec<&str> = b.directives.iter().map(|range| module.slice(range)).collect();
    assert_eq!(directives, [".pragma \"nounroll\"", ".pragma \"x\"", ".maxnreg 16"]);
    assert_eq!(module.slice(&c.header).lines().count(), 1);
    // Formal parameters may be registers; then the body can name them.
    let scope = c.scope.expect("it has a body");
    assert_eq!(module.register(scope, "r", usize::MAX), Some(Type::scalar(Scalar::F64)));
    assert_eq!(module.register(scope, "%n1", usize::MAX), Some(Type::scalar(Scalar::U32)));
    assert_eq!(module.register(scope, "%n2", usize::MAX), None);
    assert_eq!((module.slice(&d.header), module.slice(&e.header)), (".visible .func d;", ".visible .func e();"));
}

#[test]
fn declarations_of_functions_need_no_semicolon() {
    let text = "
        .visible .func f (.param .u32 a) // ptxas takes this
        .shared .align 4 .b8 mt[16];
        .func (.reg .u32 x) g (.reg .u32 a) .noreturn
        .extern .func h
        .file 1 \"a.cu\"
        .entry i (.param .u64 p) .maxntid 4, 1
        .weak .const .u32 c = 1;
        .func j ()
        .reg .b32 %r;
        .func l () .pragma \"nounroll\";
        .section .debug_str { .b8 1 }
        .func m (.param .u32 a)
        .alias g, f;
        .func n (.param .u32 a)
        #line 4
        .func o (.param .u32 a)
        @@DWARF .byte 1
        .entry k { ret; }
        .func z (.param .u32 a)";
    let module = sound(text);
    assert_eq!(count(&module, "other"), 0);
    let functions: Vec<(&str, bool)> =
        module.functions().iter().map(|f| (module.slice(&f.name), f.body.is_some())).collect();
    let declared = ["f", "g", "h", "i", "j", "l", "m", "n", "o"].map(|name| (name, false));
    assert_eq!(functions, [&declared[..], &[("k", true), ("z", false)]].concat());
    assert_eq!(module.slice(&module.functions()[0].header), ".visible .func f (.param .u32 a)");
    assert_eq!(module.slice(&module.functions()[3].directives[0]), ".maxntid 4, 1");
    let variables = module.scope(ScopeId::MODULE).variables();
    assert_eq!(variables.iter().map(|v| module.slice(&v.name)).collect::<Vec<_>>(), ["mt", "c"]);
}

#[test]
fn names_are_looked_up_from_the_inside_out() {
    let text = ".func f { .reg .b32 a, %r<10>; .reg .f32 %r1<5>; L: { mov a, a; .reg .pred a, %r9; mov a, b; L: } M: }";
    let module = sound(text);
    let [_, body, inner] = [0, 1, 2].map(|index| {
        module
            .statements()
            .iter()
            .map(|statement| statement.scope)
            .find(|scope| scope.index() == index)
            .expect("it is used")
    });
    let at = |what: &str| text.find(what).expect("it is there");
    let scalar = |scope, name, at| module.register(scope, name, at).map(|ty| ty.scalar);
    // A register is known from its declaration on.
    assert_eq!(scalar(inner, "a", at("mov a, a")), Some(Scalar::B32));
    assert_eq!(scalar(inner, "a", at("mov a, b")), Some(Scalar::Pred));
    assert_eq!(scalar(body, "a", text.len()), Some(Scalar::B32));
    assert_eq!(scalar(body, "a", at(".reg")), None);
    assert_eq!(scalar(ScopeId::MODULE, "a", text.len()), None);
    // `%r<10>` is %r0 to %r9.
    assert_eq!(scalar(body, "%r0", text.len()), Some(Scalar::B32));
    assert_eq!(scalar(body, "%r9", text.len()), Some(Scalar::B32));
    assert_eq!(scalar(inner, "%r9", text.len()), Some(Scalar::Pred));
    // As ptxas has it, all digits are the number: `%r1<5>` declares nothing that a name can reach.
    assert_eq!(scalar(body, "%r14", text.len()), None);
    assert_eq!(scalar(body, "%r07", text.len()), Some(Scalar::B32));
    assert_eq!(scalar(body, "%r", text.len()), None);
    assert_eq!(scalar(body, "", text.len()), None);
    let found = module.find_register(inner, "%r7", text.len()).expect("it is declared");
    assert_eq!((found.scope, found.index, found.number), (body, 1, Some(7)));
    // Labels may stand behind their use.
    let label = |scope, name| module.label(scope, name).map(|index| module.statements()[index].scope);
    assert_eq!((label(inner, "L"), label(body, "L"), label(inner, "M")), (Some(inner), Some(body), Some(body)));
}

#[test]
fn many_registers_are_looked_up_like_few() {
    let names = (0..1000).map(|number| format!(".reg .b32 %x{number}; .reg .pred %p{number}, q{number}_<{number}>;"));
    let module = sound(&names.collect::<String>());
    let scalar = |name: &str, at| module.register(ScopeId::MODULE, name, at).map(|ty| ty.scalar);
    for number in 0..1000 {
        assert_eq!(scalar(&format!("%x{number}"), usize::MAX), Some(Scalar::B32));
        assert_eq!(scalar(&format!("%p{number}"), usize::MAX), Some(Scalar::Pred));
        assert_eq!(scalar(&format!("q{number}_{}", number / 2), usize::MAX), (number > 0).then_some(Scalar::Pred));
        assert_eq!(scalar(&format!("q{number}_{number}"), usize::MAX), None);
        assert_eq!(scalar(&format!("%x{number}"), 0), None);
    }
}

#[test]
fn variables_of_all_kinds() {
    let text = ".visible .global .u32 a, b = 1, c[2][3] = {{1,2,3},{4,5,6}}, d;
        .const[2] .b32 bank; .shared .align 4 .b8 s<3>; .global .texref t; .global .samplerref m = { filter_mode = nearest };
        .weak .global .f64 huge[0xFFFFFFFFFFFF][0xFFFFFFFF]; .extern .shared .b8 open[];";
    let module = sound(text);
    assert_eq!(count(&module, "other"), 0);
    let find =
        |name| module.variable(ScopeId::MODULE, name, usize::MAX).unwrap_or_else(|| panic!("{name} is declared"));
    assert_eq!(find("c").dimensions, [Some(2), Some(3)]);
    assert_eq!(find("c").elements(), Some(6));
    assert_eq!(find("b").initializer.as_ref().map(|range| module.slice(range)), Some("1"));
    assert_eq!(find("d").linkage, Some(Linkage::Visible));
    assert_eq!((find("s2").count, find("s2").align), (Some(3), Some(4)));
    assert_eq!((find("t").ty.scalar, find("t").bytes()), (Scalar::TexRef, None));
    assert_eq!(find("huge").bytes(), None);
    assert_eq!(find("huge").alignment(), 8);
    assert!(module.variable(ScopeId::MODULE, "s3", usize::MAX).is_none());
    let StatementKind::Variables { declared } = &module.statements()[0].kind else { panic!() };
    assert_eq!(*declared, 0..4);
}

#[test]
fn lines_and_columns() {
    let module = Module::parse("ab\r\né☃x\n\nz");
    let expected =
        [(0, (1, 1)), (1, (1, 2)), (4, (2, 1)), (5, (2, 1)), (6, (2, 2)), (7, (2, 2)), (9, (2, 3)), (10, (2, 4))];
    for (offset, position) in expected {
        assert_eq!(module.line_col(offset), position, "offset {offset}");
    }
    assert_eq!(module.line_col(11), (3, 1));
    assert_eq!(module.line_col(12), (4, 1));
    assert_eq!(module.line_col(13), (4, 2));
    assert_eq!(module.line_col(usize::MAX), (4, 2));
    assert_eq!(Module::parse("").line_col(0), (1, 1));
}

#[test]
fn operands_are_split_at_their_commas() {
    let split = |text: &'static str| split_operands(text).map(|range| &text[range]).collect::<Vec<_>>();
    assert_eq!(split(""), [""; 0]);
    assert_eq!(split(" /* none */ "), [""; 0]);
    assert_eq!(split(" a , b "), ["a", "b"]);
    assert_eq!(split("{a, b}, [c, {d, e}], (f, g), \"h,\\\",\""), ["{a, b}", "[c, {d, e}]", "(f, g)", "\"h,\\\",\""]);
    assert_eq!(split("a/*,*/, b // ,\n, -0f3F800000"), ["a", "b", "-0f3F800000"]);
    assert_eq!(split("a,,b,"), ["a", "", "b", ""]);
    assert_eq!(split("a}, b"), ["a}", "b"]);
    assert_eq!(split("{a, b"), ["{a, b"]);
    assert_eq!(split("é, ☃"), ["é", "☃"]);
}

#[test]
fn integers() {
    let expected = [
        ("0", Some(0)),
        ("42", Some(42)),
        ("0x1F", Some(31)),
        ("0X1fU", Some(31)),
        ("0b101", Some(5)),
        ("017", Some(15)),
        ("18446744073709551615", Some(u64::MAX)),
        ("18446744073709551616", None),
        ("", None),
        ("-1", None),
        ("0x-1", None),
        ("0x", None),
        ("09", None),
        ("0f3F800000", None),
    ];
    for (text, value) in expected {
        assert_eq!(integer(text), value, "{text}");
    }
}

#[test]
fn variables_hide_registers_of_scopes_around_them() {
    let text =
        ".entry k() { .reg .b32 s, %r<4>; { mov.b32 s, 1; .shared .b32 s, %r<2>; mov.b32 s, 2; } mov.b32 s, 3; }";
    let module = sound(text);
    let inner =
        module.statements().iter().map(|statement| statement.scope).max_by_key(|scope| scope.index()).expect("some");
    let at = |what: &str| text.find(what).expect("it is there");
    assert!(module.register(inner, "s", at("mov.b32 s, 1")).is_some());
    assert!(module.register(inner, "s", at("mov.b32 s, 2")).is_none());
    assert!(module.variable(inner, "s", at("mov.b32 s, 2")).is_some());
    // `%r<2>` hides two of four.
    assert!(module.register(inner, "%r1", text.len()).is_none());
    assert!(module.register(inner, "%r3", text.len()).is_some());
    let body = module.functions()[0].scope.expect("it has a body");
    assert!(module.register(body, "s", at("mov.b32 s, 3")).is_some());
}
