//! Rewritten modules assemble without a warning of ptxas, and the code that ptxas makes of them computes the right values.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use vop::ModuleTarget;
use vop::lower::LowerOptions;
use vop::{Form, Instruction, Operand, Parser, Registers, Semantics, Target};
use vop_ptx::module::Module;
use vop_ptx::rewrite::{RewriteError, RewriteOptions, rewrite};
use vop_ptx::uses;
use vop_tests::{Random, edge_rows};
use xtask::sass::Toolchain;
use xtask::sweep::{one_in, simd_forms};

use crate::tools;

const TARGETS: [&str; 9] = ["sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120", "sm_120f"];

/// Rewrites a module for a target, and has ptxas assemble it, unless `known` has the result. Returns the number of instructions that
/// were replaced.
fn assembles(
    toolchain: &Toolchain,
    name: &str,
    source: &[u8],
    options: RewriteOptions,
    known: &mut HashSet<(Target, Vec<u8>)>,
) -> usize {
    let text = uses::text(source);
    let rewritten = match rewrite(&Module::parse(text), &options) {
        Ok(rewritten) => rewritten,
        // Nothing that the old module allows computes it.
        Err(RewriteError::NoRule { needs: Some(_), .. }) if !options.may_raise => return 0,
        Err(error) => panic!("{name} {options:?}: {error}"),
    };
    let module = rewritten.apply(source);
    let replaced = rewritten.instructions.iter().filter(|one| one.block.is_some()).count();
    if !known.insert((options.target, module.clone())) {
        return replaced;
    }
    let words = toolchain.assemble(&module, &options.target.to_string());
    let words = words.unwrap_or_else(|error| panic!("{name} {options:?}: {error}"));
    // ptxas warns about some modules in any case.
    let is_as_before = || toolchain.assemble(source, &options.target.to_string()).is_ok_and(|before| before == words);
    assert!(words.is_empty() || is_as_before(), "{name} {options:?}: {words}");
    replaced
}

#[test]
fn modules_of_compilers_and_of_the_example_assemble() {
    let Some(toolchain) = tools::ptxas() else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    ["examples", "crates"].iter().for_each(|folder| ptx_below(&root.join(folder), &mut files));
    files.sort();
    // One of each generation. ptxas takes long: unless all is asked, each file is for two of them in turn.
    let generations: [Target; 5] = ["sm_75", "sm_86", "sm_90", "sm_100", "sm_120f"].map(|name| name.parse().unwrap());
    let count = if tools::full() { generations.len() } else { 2 };
    let (mut replaced, mut names, mut known) = (0, BTreeSet::new(), HashSet::new());
    for file in files {
        let source = std::fs::read(&file).unwrap();
        let module = Module::parse(uses::text(&source));
        let Some(Ok(module_target)) = module.target().map(str::parse::<ModuleTarget>) else { continue };
        if uses::in_module(&module).is_empty() {
            continue;
        }
        let runnable: Vec<Target> = generations.into_iter().filter(|target| module_target.runs_on(*target)).collect();
        let chosen = runnable.iter().cycle().skip(names.len()).take(count.min(runnable.len()));
        for target in chosen.copied() {
            // Some are wrong on purpose.
            if toolchain.assemble(&source, &target.to_string()).is_err() {
                continue;
            }
            names.insert(file.file_name().unwrap().to_owned());
            for may_raise in [false, true] {
                let options = RewriteOptions::new(target).may_raise(may_raise);
                replaced += assembles(toolchain, &file.display().to_string(), &source, options, &mut known);
            }
        }
    }
    assert!(replaced > 200 * count, "{replaced}");
    for name in ["motion.ptx", "clang.ptx", "inline.ptx", "inline-debug.ptx", "lanes.ptx"] {
        assert!(names.contains(OsStr::new(name)), "{name} of {names:?}");
    }
}

/// All PTX files of a folder.
fn ptx_below(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            ptx_below(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            files.push(path);
        }
    }
}

/// Registers of every type that a video instruction takes, and names that a block might give its own.
const DECLARATIONS: &str = ".reg .pred p, q1, %p<3>; .reg .b32 a, t1, t2, %r<9>; .reg .u32 u1, u2; .reg .s32 s1, s2; \
     .reg .f16x2 h1, h2;";

const REGISTERS: [&str; 12] = ["a", "t1", "t2", "%r0", "%r8", "u1", "u2", "s1", "s2", "h1", "h2", "%r1"];

/// An instruction of a form with operands and a guard by chance, as ptxas takes it.
fn instruction(form: Form, parser: &Parser<'_>, random: &mut Random) -> Option<String> {
    for _ in 0..20 {
        let mut pick = |count: usize| (random.next() >> 20) as usize % count;
        let text = form.to_string();
        let (opcode, operands) = text.split_once(' ').unwrap();
        let guard = ["", "", "@p ", "@!q1 ", "@%p2 "][pick(5)];
        let names: Vec<String> = operands
            .split(", ")
            .enumerate()
            .map(|(i, operand)| {
                let (name, selector) = operand.split_at(operand.find('.').unwrap_or(operand.len()));
                let (minus, _) = name.split_at(name.len() - 1);
                let register = REGISTERS[pick(REGISTERS.len())];
                match pick(6) {
                    0 if i > 0 => ["0", "-1", "0x80", "77", "0x7fffffff", "-32768"][pick(6)].to_owned(),
                    // On a sum of an `.f16x2` ptxas 13.5 dies, in what stays as it is.
                    1 if i == 3 && !register.starts_with('h') => format!("{register}{}", ["+1", "+-5"][pick(2)]),
                    _ => format!("{minus}{register}{selector}"),
                }
            })
            .collect();
        let text = format!("{guard}{opcode} {};", names.join(", "));
        if parser.parse(&text).is_ok() {
            return Some(text);
        }
    }
    None
}

/// Every kind of operand, guard and type, and modules of every age.
#[test]
fn generated_modules_assemble() {
    let Some(toolchain) = tools::ptxas() else { return };
    let registers: Registers = DECLARATIONS.parse().unwrap();
    let parser = Parser::new().with_registers(&registers);
    let mut random = Random(41);
    let share = if tools::full() { 1 } else { 4 };
    let (mut replaced, mut known) = (0, HashSet::new());
    for (i, target) in TARGETS.into_iter().enumerate() {
        let forms = one_in(60 + i as u64, 250).chain(simd_forms(70 + i as u64, 300));
        let forms = forms.skip(i % share).step_by(share);
        let instructions = forms.filter_map(|form| instruction(form, &parser, &mut random));
        let labelled = |(i, text): (usize, String)| match i % 3 {
            0 => format!("L{i}: /* all */ {}", text.replace(", ", ",\n// on its own line\n  ")),
            _ => text,
        };
        let lines: Vec<String> = instructions.enumerate().map(labelled).collect();
        assert!(lines.len() > 500 / share, "{}", lines.len());
        let target = target.parse().unwrap();
        // Each target in one age, as assembling takes long.
        let ages = [("3.0", "sm_30"), ("5.0", "sm_61"), ("8.0", "sm_75"), ("9.2", "")];
        for (version, module_target) in ages.into_iter().skip(i % 4).step_by(4) {
            let own = ModuleTarget::from(target).to_string();
            let module_target = if module_target.is_empty() { &own } else { module_target };
            // Half precision is younger than some modules.
            let declarations =
                if version == "3.0" { DECLARATIONS.replace(".f16x2", ".u32") } else { DECLARATIONS.to_owned() };
            let module = format!(
                ".version {version}\n.target {module_target}\n.address_size 64\n.visible .entry k()\n{{\n    {declarations}\n    \
                 {}\n    ret;\n}}\n",
                lines.join("\n    ")
            );
            for (semantics, may_raise) in [(Semantics::Isa, false), (Semantics::Isa, true), (Semantics::Ptxas, true)] {
                let options = RewriteOptions::new(target).semantics(semantics).may_raise(may_raise);
                replaced += assembles(toolchain, "generated", module.as_bytes(), options, &mut known);
            }
        }
    }
    assert!(replaced > 15_000 / share, "{replaced}");
}

/// What a block computes over immediates, sums, registers used twice, and under guards.
#[test]
fn blocks_compute_what_their_instructions_do() {
    let Some(toolchain) = tools::ptxas() else { return };
    let mut random = Random(43);
    let parser = Parser::new();
    let mut executed = 0;
    for (i, name) in ["sm_75", "sm_90", "sm_120f"].into_iter().enumerate() {
        let options = LowerOptions::new(name.parse().unwrap()).with_keeping(false);
        let forms: Vec<Form> = one_in(80 + i as u64, 150).chain(simd_forms(90 + i as u64, 100)).collect();
        let mut texts: Vec<String> = Vec::new();
        let mut blocks = Vec::new();
        for form in forms {
            let Some(text) = over_abc(form, &parser, &mut random) else { continue };
            let instruction = parser.parse(&text).unwrap();
            // Not `form`: a negated constant is another constant.
            let block = instruction.form.lower(options).block(&instruction, &Registers::default()).one_line();
            // The guard holds where c is not negative as a signed number.
            let d = if instruction.d == "d" { String::new() } else { format!("mov.b32 d, {};", instruction.d) };
            blocks.push(format!("{{ .reg .pred p; setp.ge.s32 p, c, 0; {block} {d} }}"));
            texts.push(text);
        }
        assert!(texts.len() > 400, "{}", texts.len());
        for ((text, block), code) in texts.iter().zip(&blocks).zip(toolchain.compile(&blocks, name).unwrap()) {
            let instruction = parser.parse(text).unwrap();
            for inputs in edge_rows(&mut random, 24) {
                let [a, b, c] = inputs;
                // Some of what they become the simulator does not know.
                let Ok(found) = code.run(a, b, c) else { break };
                assert_eq!(
                    found,
                    expected(&instruction, inputs),
                    "{name} {text} {a:#010x} {b:#010x} {c:#010x} {block}"
                );
                executed += 1;
            }
        }
    }
    assert!(executed > 20_000, "{executed}");
}

/// An instruction of a form over registers a, b, c and d, which may be used twice, and constants.
fn over_abc(form: Form, parser: &Parser<'_>, random: &mut Random) -> Option<String> {
    for _ in 0..20 {
        let mut pick = |count: usize| (random.next() >> 20) as usize % count;
        let mut text = form.to_string();
        for (i, name) in ["d", "a", "b", "c"].into_iter().enumerate() {
            let to = match pick(5) {
                0 => ["a", "b", "c"][pick(3)].to_owned(),
                1 if i > 0 => ["3", "-1", "0x80", "0x12345678"][pick(4)].to_owned(),
                2 if i == 3 => "a+7".to_owned(),
                _ => continue,
            };
            // A name stands behind a blank, and behind a minus in `vmad`.
            for before in [" ", " -"] {
                for behind in [",", "."] {
                    text = text.replace(&format!("{before}{name}{behind}"), &format!("{before}#{to}{behind}"));
                }
                if let Some(rest) = text.strip_suffix(&format!("{before}{name}")) {
                    text = format!("{rest}{before}#{to}");
                }
            }
        }
        let text = format!("{}{}", ["", "@p ", "@!p "][pick(3)], text.replace('#', ""));
        if parser.parse(&text).is_ok() {
            return Some(text);
        }
    }
    None
}

/// The value of d by the manual, where registers a, b and c hold these values, d is 0, and p holds where c is not negative.
fn expected(instruction: &Instruction<'_>, [a, b, c]: [u32; 3]) -> u32 {
    let register = |name: &str| match name {
        "a" => a,
        "b" => b,
        "c" => c,
        _ => 0,
    };
    let value = |operand: Operand<'_>| match operand {
        Operand::Register(name) => register(name),
        Operand::Sum { register: name, addend } => register(name).wrapping_add(addend),
        Operand::Immediate { value, .. } => value,
    };
    let executes = instruction.guard.is_none_or(|guard| (c as i32 >= 0) != guard.negated);
    let [a, b, c] = [Some(instruction.a), Some(instruction.b), instruction.c].map(|operand| operand.map_or(0, value));
    if executes { instruction.form.eval(a, b, c) } else { register(instruction.d) }
}
