//! The library's costs are the measured ones.

use std::collections::HashSet;

use vop::cost::Entry;
use vop::isa::types::Shape;
use vop::{Form, Mnemonic, Target};
use vop_tests::{Random, golden};

/// The number of costs in a file, and a line for each with which the library disagrees. The heading names the targets of the columns.
fn compare(file: &'static str) -> (usize, Vec<String>) {
    let heading = file.lines().next().expect("a heading");
    let targets: Vec<Target> = heading.split('\t').skip(1).map(|name| name.parse().expect("a known target")).collect();
    let mut count = 0;
    let mut wrong = Vec::new();
    for (line, row) in golden::rows(file) {
        let form: Form = row[0].parse().unwrap_or_else(|faults| panic!("line {line}: {faults:?}"));
        assert_eq!(row.len(), 1 + targets.len(), "line {line}");
        for (&target, measured) in targets.iter().zip(&row[1..]) {
            count += 1;
            let cost = form.cost(target);
            if measured.parse() != Ok(cost) {
                wrong.push(format!("line {line}: {form} for {target}: measured {measured}, the library has {cost}"));
            }
        }
    }
    (count, wrong)
}

#[test]
fn measured_costs() {
    assert_eq!(compare(golden::PTXAS_COST), (4 * 6258, vec![]));
}

/// Random forms that the library's table was not made from, on every target.
#[test]
fn costs_of_forms_that_the_table_was_not_made_from() {
    assert_eq!(compare(golden::COST_MORE), (15 * 320, vec![]));
}

/// A wrong cost is found.
#[test]
fn the_comparison_can_fail() {
    let (count, wrong) = compare("form\tsm_90\tsm_86\nvabsdiff4.u32.u32.u32.add d, a, b, c\t1\t2\n");
    assert_eq!(count, 2);
    assert_eq!(wrong, ["line 2: vabsdiff4.u32.u32.u32.add d, a, b, c for sm_86: measured 2, the library has 1"]);
}

/// The table has a number for every place that a form can have, and no others.
#[test]
fn every_form_has_a_cost() {
    let mut places = HashSet::new();
    let mut random = Random(7);
    for mnemonic in Mnemonic::ALL {
        let mut ask = |form: Form| {
            if places.insert(Entry::of(form)) {
                for target in Target::MEASURED {
                    // Nothing is free, and nothing costs more than a few times its lanes.
                    assert!((1..=64).contains(&form.cost(target)), "{form} for {target}");
                }
            }
        };
        let forms = mnemonic.forms();
        if mnemonic.shape() != Shape::Bytes {
            forms.for_each(ask);
            continue;
        }
        const SELECTORS: u64 = 1 << 24;
        for first in (0..forms.count_left()).step_by(SELECTORS as usize) {
            let equal = random.next() % 4096;
            for selectors in [0o3210_7654, equal * 4097, random.next() % SELECTORS] {
                ask(forms.get(first + selectors).expect("an index of a form"));
            }
        }
    }
    assert_eq!(
        places.len(),
        golden::rows(TABLE)
            .filter(|(_, row)| row[0].starts_with('v'))
            .map(|(_, row)| row[1].split(' ').count())
            .sum::<usize>()
    );
}
const TABLE: &str = include_str!("../../crates/vop/src/cost/table.tsv");
