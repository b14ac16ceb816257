//! All that the rules write is proved: the hash of every query stands in `tests/golden/proofs.txt`. Where z3 is at hand a sample
//! that changes daily is proved again, from scratch, and what the file lacks.

use std::collections::HashSet;
use std::io::Write;
use std::path::Path;
use std::sync::OnceLock;
use std::time::SystemTime;

use vop::{Mnemonic, Semantics, scalar_forms};
use vop_prove::{Cache, Hash, Item, Solver, TARGETS, Verdict, everything, of_form};

const UPDATE: &str = "run `cargo run --release -- prove --all --cache tests/golden/proofs.txt`";

/// One number where `VOP_FULL` is set, as before a release, and otherwise another.
fn full_or(full: usize, otherwise: usize) -> usize {
    if std::env::var_os("VOP_FULL").is_some() { full } else { otherwise }
}

fn items() -> &'static [Item] {
    static ITEMS: OnceLock<Vec<Item>> = OnceLock::new();
    ITEMS.get_or_init(|| everything().unwrap_or_else(|why| panic!("{why}")))
}

fn cache() -> Cache {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/proofs.txt");
    Cache::load(&path).unwrap_or_else(|why| panic!("{why}"))
}

#[test]
fn everything_was_proved() {
    let cache = cache();
    let missing: Vec<&Item> = items().iter().filter(|item| !cache.has(item.hash)).collect();
    let some: Vec<String> = missing.iter().take(5).map(|item| format!("{} by `{}`", item.form, item.rule)).collect();
    assert!(missing.is_empty(), "{} queries were never proved, of {some:#?} and so on: {UPDATE}", missing.len());
    assert_eq!(cache.len(), items().len(), "some hashes are of queries that nothing asks any more: {UPDATE}");
}

#[test]
fn a_sample_of_the_day_and_what_is_missing_are_proved_from_scratch() {
    let mut solver = match Solver::start(Solver::TIMEOUT) {
        Ok(solver) => solver,
        Err(why) => {
            // Not by `eprintln!`: what that writes a passing test swallows.
            let _ = writeln!(std::io::stderr(), "skipped: {why}");
            return;
        }
    };
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("the clock is right");
    let day = (since.as_secs() / 86400).to_string();
    let cache = cache();
    let mut asked: Vec<&Item> = items().iter().collect();
    asked.sort_by_key(|item| (cache.has(item.hash), item.hash.rank(&day)));
    let missing = asked.iter().filter(|item| !cache.has(item.hash)).count();
    for item in &asked[..asked.len().min(missing + full_or(100, 40))] {
        let verdict = solver.prove(&item.query).unwrap_or_else(|why| panic!("{}: {why}", item.form));
        assert_eq!(verdict, Verdict::Proved, "{} by `{}`: {}\n{}", item.form, item.rule, item.query.claim, item.query);
    }
}

/// What was listed with default selectors, and of scalar forms with one part of each size, is all there is.
#[test]
fn selectors_and_parts_ask_nothing_new() {
    let known: HashSet<Hash> = items().iter().map(|item| item.hash).collect();
    let mut count = 0;
    let mut seed = 1u64;
    let mut random = |below: u64| {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
        (seed >> 20) % below
    };
    let mut forms = Vec::new();
    for mnemonic in Mnemonic::ALL.into_iter().filter(|mnemonic| mnemonic.shape().is_simd()) {
        let all = mnemonic.forms();
        forms.extend((0..full_or(800, 400)).filter_map(|_| all.get(random(all.count_left()))));
    }
    forms.extend(scalar_forms().step_by(full_or(11, 22)));
    for form in forms {
        let target = TARGETS[random(TARGETS.len() as u64) as usize].parse().expect("a target");
        for semantics in Semantics::ALL {
            for item in of_form(form, semantics, target).unwrap_or_else(|why| panic!("{why}")) {
                count += 1;
                assert!(known.contains(&item.hash), "{form} on {target} by `{}`:\n{}", item.rule, item.query);
            }
        }
    }
    assert!(count > 10_000, "{count}");
}
