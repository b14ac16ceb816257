//! Queries of the rules of `vop lower`, proved by z3 from scratch.

use std::collections::BTreeMap;

use vop_prove::{Item, Solver, Verdict, everything};

use super::Answer;

/// What there is to prove, by the hash that the file writes.
pub(super) type Items = BTreeMap<String, Item>;

/// All that there is to prove.
pub(super) fn items() -> Result<Items, String> {
    Ok(everything()?.into_iter().map(|item| (item.hash.to_string(), item)).collect())
}

/// Of `proofs.txt`: the hash of a query that is proved.
pub(super) fn answers(items: &Items, rows: &[Vec<&str>]) -> Result<Vec<Answer>, String> {
    let mut solver = Solver::start(Solver::TIMEOUT)?;
    let mut answer = |row: &Vec<&str>| {
        let Some(item) = items.get(row[0]) else { return Ok(Answer::Obsolete) };
        let what = || format!("{} of {} by `{}`", item.query.claim, item.form, item.rule);
        Ok(match solver.prove(&item.query)? {
            Verdict::Proved => Answer::Row(row[0].to_owned()),
            Verdict::Refuted(case) => Answer::Fault(format!("{} is refuted: {case}", what())),
            Verdict::Unknown(why) => Answer::Fault(format!("{} is not decided: {why}", what())),
        })
    };
    rows.iter().map(&mut answer).collect()
}
