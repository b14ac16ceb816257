//! The conformance suite, for some mnemonics: `cargo xtask conformance` does all.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use vop::Mnemonic;
use vop_run::{LaunchOptions, Program};
use vop_tests::fnv1a;
use xtask::conformance::quality::Mutant;
use xtask::conformance::vectors::{self, Row};
use xtask::conformance::{Suite, module, with_commas};

use crate::tools;

/// One of each shape, whose faults differ most.
const SOME: [Mnemonic; 3] = [Mnemonic::Vshl, Mnemonic::Vset2, Mnemonic::Vavrg4];

fn suite() -> &'static Suite {
    static SUITE: OnceLock<Suite> = OnceLock::new();
    SUITE.get_or_init(|| Suite::of(&SOME))
}

fn small_of(mnemonic: Mnemonic) -> &'static [Row] {
    &suite().small.iter().find(|(other, _)| *other == mnemonic).unwrap().1
}

#[test]
fn rows_have_witnesses_and_are_of_all_forms() {
    for ((mnemonic, large), (_, small)) in suite().large.iter().zip(&suite().small) {
        assert!(large.iter().all(Row::has_witnesses), "{mnemonic}");
        assert!(small.iter().all(|row| large.contains(row)), "{mnemonic}");
    }
    let of_vshl: HashSet<_> = suite().large[0].1.iter().map(|row| row.form).collect();
    assert!(Mnemonic::Vshl.forms().all(|form| of_vshl.contains(&form)));
    let of_vset2: HashSet<_> = suite().large[1].1.iter().map(|row| row.form).collect();
    assert!(Mnemonic::Vset2.forms_with_default_selectors().all(|form| of_vset2.contains(&form)));
    assert_eq!(vectors::quotas().iter().map(|(_, quota)| quota).sum::<usize>(), vectors::SMALL);
}

#[test]
fn mutants_are_killed() {
    let mut count = 0;
    for ((mnemonic, large), (_, small)) in suite().large.iter().zip(&suite().small) {
        let (equivalent, others): (Vec<Mutant>, Vec<Mutant>) =
            Mutant::all(*mnemonic).into_iter().partition(|mutant| mutant.why_equivalent(*mnemonic).is_some());
        assert!(equivalent.iter().all(|mutant| !mutant.is_killed(large)), "{mnemonic}: an equivalent mutant is killed");
        for (rows, percent) in [(large, 99), (small, 95)] {
            let survivors: Vec<_> = others.iter().filter(|mutant| !mutant.is_killed(rows)).collect();
            assert!(survivors.len() * 100 <= others.len() * (100 - percent), "{mnemonic}: {survivors:?}");
        }
        count += others.len();
    }
    assert!(count >= 200, "{count}");
}

/// Whoever changes how rows are chosen changes these, and the figures of docs/conformance.md.
#[test]
fn rows_are_the_same_each_time() {
    let text = vectors::text(&suite().large[1].1) + &vectors::text(&suite().small[1].1);
    let hash = fnv1a(text.bytes().map(u32::from));
    assert_eq!(format!("{hash:016x}"), "4f4cd2309d95b2e7");
}

/// The two words that the kernel of a mnemonic writes.
fn said(mnemonic: Mnemonic, ptx: &str, semantics: u32) -> [u32; 2] {
    let program = Program::read(ptx);
    let kernel = program.kernel(mnemonic.name()).unwrap();
    let mut memory = program.memory();
    let result = memory.allocate("result", [7; 8]);
    // More threads than one must do no harm.
    let arguments = [result.into(), semantics.into()];
    kernel.launch([2, 1, 1], [32, 1, 1], &arguments, &mut memory, &LaunchOptions::default()).unwrap();
    let words = memory.bytes(result).chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap()));
    words.collect::<Vec<u32>>().try_into().unwrap()
}

#[test]
fn kernels_tell_the_first_wrong_row() {
    let rows = small_of(Mnemonic::Vshl);
    let ptx = module(Mnemonic::Vshl, rows);
    // The engine computes as the manual says. Where ptxas differs, its columns are wrong here.
    for (semantics, column) in [(0, 0), (1, 1), (2, 2)] {
        let wrong: Vec<usize> = (0..rows.len()).filter(|&i| rows[i].d[0] != rows[i].d[column]).collect();
        let first = wrong.first().map_or(0, |first| first + 1);
        assert_eq!(said(Mnemonic::Vshl, &ptx, semantics), [first as u32, wrong.len() as u32], "{semantics}");
        assert_eq!(first > 0, semantics > 0);
    }
    assert_eq!(said(Mnemonic::Vshl, &ptx, 3), [u32::MAX, 0]);
    // An instruction that does something else.
    let rows = small_of(Mnemonic::Vset2);
    let broken = rows[40].form.to_string();
    let ptx = module(Mnemonic::Vset2, rows).replacen(&format!("    {broken};"), "    mov.b32 d, 0x12345678;", 1);
    let first = rows.iter().position(|row| row.form.to_string() == broken).unwrap();
    assert_eq!(said(Mnemonic::Vset2, &ptx, 0), [first as u32 + 1, 1]);
}

#[test]
fn ptxas_assembles_kernels() {
    let Some(toolchain) = tools::ptxas() else { return };
    let ptx = module(Mnemonic::Vavrg4, small_of(Mnemonic::Vavrg4));
    for target in ["sm_75", "sm_120"] {
        assert_eq!(toolchain.assemble(ptx.as_bytes(), target).unwrap(), "", "{target}");
    }
}

/// The driver of this workspace, if it was built, under the name of NVIDIA's.
fn driver(folder: &Path) -> Option<PathBuf> {
    let built = Path::new(env!("CARGO_BIN_EXE_xtask")).with_file_name("vop-cuda");
    if !cfg!(all(target_os = "linux", target_env = "gnu")) || !built.exists() {
        tools::say(format_args!("no {}; `cargo build --package vop-cli` builds it", built.display()));
        return None;
    }
    let library = folder.join("libcuda.so.1");
    std::fs::copy(built, &library).unwrap();
    Some(library)
}

fn text_of(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn programs_run_kernels_through_a_driver() {
    let folder = tempfile::tempdir().unwrap();
    let Some(library) = driver(folder.path()) else { return };
    std::fs::create_dir(folder.path().join("kernels")).unwrap();
    for (name, text) in suite().files("1.2.3") {
        // The large set is not needed; one row of it is.
        let text = if name == "vectors-large.tsv" { text.lines().take(2).collect::<Vec<_>>().join("\n") } else { text };
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    let run = |mut command: Command| match command.current_dir(folder.path()).output() {
        Ok(output) => Some((output.status.code(), text_of(&output))),
        Err(error) => {
            tools::say(format_args!("cannot run {:?} ({error})", command.get_program()));
            None
        }
    };
    let python = |arguments: &[&str]| {
        let mut command = Command::new("python3");
        command.arg("run.py").arg("--libcuda").arg(&library).args(arguments);
        run(command)
    };
    let Some((code, text)) = python(&["--semantics", "manual"]) else { return };
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("every row is right") && text.contains("vavrg4"), "{text}");
    // By ptxas's column the manual is wrong, and the first wrong row is told with all that one needs.
    let rows = small_of(Mnemonic::Vshl);
    let first = rows.iter().position(|row| row.d[0] != row.d[1]).unwrap();
    let (code, text) = python(&["--semantics", "ptxas", "--jobs", "2", "vshl"]).unwrap();
    assert_eq!(code, Some(1), "{text}");
    let [a, b, c] = rows[first].inputs;
    let [manual, ptxas, _] = rows[first].d;
    let told = format!(
        "vshl row {}: {}\n    a {a:#010x}, b {b:#010x}, c {c:#010x}: got {manual:#010x}, expected {ptxas:#010x}",
        first + 1,
        rows[first].form
    );
    assert!(text.contains(&told), "{told}\n{text}");
    let (code, text) = python(&["--vectors", "vectors-large.tsv", "--semantics", "manual"]).unwrap();
    assert_eq!(code, Some(0), "{text}");
    let (code, text) = python(&["--semantics", "manual", "vfoo"]).unwrap();
    assert_eq!((code, text.contains("no such mnemonic: vfoo")), (Some(2), true), "{text}");
    // In C.
    let mut compiler = Command::new("cc");
    compiler.args(["-Wall", "-Wextra", "-Werror", "-pedantic", "-o", "run", "run.c", "-ldl"]);
    let Some((code, text)) = run(compiler) else { return };
    assert_eq!(code, Some(0), "{text}");
    let c = |arguments: &[&str]| {
        let mut command = Command::new(folder.path().join("run"));
        command.arg(&library).args(arguments);
        run(command).unwrap()
    };
    let (code, text) = c(&["manual", "vshl", "vset2", "vavrg4"]);
    assert_eq!(code, Some(0), "{text}");
    assert_eq!(text.matches("rows are right").count(), 3, "{text}");
    let (code, text) = c(&["ptxas", "vshl"]);
    assert_eq!(code, Some(1), "{text}");
    let told = format!("The first is row {}; got {manual:08x}:\n           {}\t{a:08x}", first + 1, rows[first].form);
    assert!(text.contains(&told), "{told}\n{text}");
    assert_eq!(c(&["manual", "vadd"]).0, Some(2), "it has no kernel here");
    assert_eq!(c(&["ptx"]).0, Some(2));
}

#[test]
fn pages_are_filled_in() {
    for (name, text) in suite().files("1.2.3") {
        assert!(!text.contains('@') || name.ends_with(".ptx") || name.ends_with(".c"), "{name} has a mark left");
    }
    assert_eq!([0, 12, 1234, 123_456, 1_234_567].map(with_commas), ["0", "12", "1,234", "123,456", "1,234,567"]);
}
