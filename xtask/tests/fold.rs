//! `cargo xtask fold`: ptxas is asked about single instructions of `vop run`.

use std::path::Path;

use vop_ptx::module::Scalar;
use vop_run::Level;
use vop_run::internals::Instruction;
use xtask::fold::{Row, fold, random};

use crate::tools;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../crates/vop-run/tests/data/run");

/// Every row of `folded.tsv`, on a target for which ptxas computes it; with `VOP_FULL` on each of some.
#[test]
fn folded_rows_are_what_ptxas_computes() {
    let Some(toolchain) = tools::ptxas() else { return };
    let text = std::fs::read_to_string(Path::new(FOLDER).join("folded.tsv")).expect("the file can be read");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let rows: Vec<Row> = lines.map(|line| Row::read(line).unwrap_or_else(|| panic!("{line}"))).collect();
    assert!(rows.len() > 200, "{}", rows.len());
    let mut witnessed = vec![false; rows.len()];
    for target in ["sm_100", "sm_75", "sm_90"] {
        let asked: Vec<usize> = (0..rows.len()).filter(|&i| tools::full() || !witnessed[i]).collect();
        let of_target: Vec<Row> = asked.iter().map(|&i| rows[i].clone()).collect();
        let results = fold(toolchain, &of_target, target).unwrap_or_else(|error| panic!("{error}"));
        for (i, result) in asked.into_iter().zip(results) {
            if let Some(result) = result {
                assert_eq!(result, rows[i].result, "{target} {}", rows[i]);
                witnessed[i] = true;
            }
        }
    }
    let others: Vec<String> =
        rows.iter().zip(witnessed).filter(|(_, witnessed)| !witnessed).map(|(row, _)| row.to_string()).collect();
    assert!(others.is_empty(), "ptxas computes none of these:\n{}", others.join("\n"));
}

/// What `vop run --semantics ptxas` computes; none if registers are wider than types, which the engine's decoder deals with.
fn by_vop(row: &Row) -> Option<u64> {
    let instruction = Instruction::new(&row.opcode, row.types.len(), &vec![None; row.types.len()])?;
    let instruction = instruction.by_ptxas().unwrap_or(instruction);
    let types = instruction.results().iter().chain(instruction.sources());
    let same = |(ty, register): (&Scalar, &String)| Scalar::from_name(register).is_some_and(|r| r.bits() == ty.bits());
    let fits = types.clone().count() == row.types.len() && types.zip(&row.types).all(same);
    let value = fits.then(|| instruction.run(Level::best(), &row.sources)[0])?;
    Some(if row.types[0] == "pred" { value & 1 } else { value })
}

/// All instructions of the tests, on random inputs; `cargo xtask fold --random` takes more of them. Those that the manual calls approximate
/// are left out: they have no defined bits, and what `vop run` computes of them stands in rows of its tests.
#[test]
fn random_rows_are_what_ptxas_computes() {
    let Some(toolchain) = tools::ptxas() else { return };
    let mut rows = Row::of_folder(Path::new(FOLDER)).expect("the files can be read");
    rows.retain(|row| !row.opcode.split('.').any(|word| word == "approx" || word == "full"));
    let rows = random(&rows, 1, 11);
    let (mut known, mut wrong) = (0, Vec::new());
    for (row, result) in rows.iter().zip(fold(toolchain, &rows, "sm_90").unwrap_or_else(|error| panic!("{error}"))) {
        let (Some(result), Some(by_vop)) = (result, by_vop(row)) else { continue };
        known += 1;
        let same = result == by_vop || row.is_nan(result) && row.is_nan(by_vop);
        if !same {
            wrong.push(format!("{row}: {by_vop:x}, and {result:x} by ptxas"));
        }
    }
    assert!(wrong.is_empty(), "{} of {known} rows:\n{}", wrong.len(), wrong.join("\n"));
    assert!(known > 900, "{known}");
}
