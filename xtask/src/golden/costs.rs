//! Counts of machine instructions.

use super::Answer;
use crate::sass::Toolchain;

/// The row of these first cells with a count for each target.
fn row(cells: &[&str], counts: impl Iterator<Item = i64>) -> Answer {
    let counts = counts.map(|count| format!("\t{count}"));
    Answer::Row(cells.join("\t") + &counts.collect::<String>())
}

/// Of `ptxas-cost.tsv` and `cost-more.tsv`: form, then a count for each target of the heading.
pub(super) fn forms(toolchain: &Toolchain, heading: &[&str], rows: &[Vec<&str>]) -> Result<Vec<Answer>, String> {
    let texts: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    let [_, targets @ ..] = heading else { return Err("the file has no heading".into()) };
    let costs = |target: &&str| toolchain.costs(&texts, target).map_err(|error| error.to_string());
    let costs: Vec<Vec<i64>> = targets.iter().map(costs).collect::<Result<_, _>>()?;
    let answer = |(i, text): (usize, &&str)| row(&[text], costs.iter().map(|column| column[i]));
    Ok(texts.iter().enumerate().map(answer).collect())
}

/// The expression that equals a form: those with `.add` are the sums of absolute differences, to which c is added.
fn call(intrinsic: &str, form: &str) -> String {
    let is_sum = form.split(' ').next().is_some_and(|opcode| opcode.ends_with(".add"));
    format!("{intrinsic}(a, b){}", if is_sum { " + c" } else { "" })
}

/// Of `intrinsics-cost.tsv`: intrinsic, equal form, then a count for each target of the heading.
pub(super) fn intrinsics(toolchain: &Toolchain, heading: &[&str], rows: &[Vec<&str>]) -> Result<Vec<Answer>, String> {
    let [_, _, targets @ ..] = heading else { return Err("the file has no heading".into()) };
    let calls: Vec<String> = rows.iter().map(|row| call(row[0], row.get(1).copied().unwrap_or_default())).collect();
    let costs = |target: &&str| toolchain.cuda_costs(&calls, target).map_err(|error| error.to_string());
    let costs: Vec<Vec<i64>> = targets.iter().map(costs).collect::<Result<_, _>>()?;
    let answer = |(i, cells): (usize, &Vec<&str>)| match cells.as_slice() {
        [intrinsic, form, ..] => row(&[intrinsic, form], costs.iter().map(|column| column[i])),
        _ => Answer::Fault("it names no form".into()),
    };
    Ok(rows.iter().enumerate().map(answer).collect())
}
