//! The search finds what is known to be there, and nothing where there is nothing.

use vop::Form;
use xtask::search::Search;

fn search(form: &str, groups: &[&str], constants: &[u32]) -> Search {
    Search {
        form: form.parse().expect("a form"),
        target: "sm_75".parse().expect("a target"),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        constants: constants.to_vec(),
        care: u32::MAX,
    }
}

/// Sums of four bytes take three instructions: two are not enough, and what is found is right.
#[test]
fn sums_of_bytes_take_three_instructions() {
    let search = search("vadd4.u32.u32.u32 d, a, b, c", &["logic", "sum"], &[0x0101_0101]);
    for length in 0..3 {
        let found = search.run(length);
        assert!(found.sequences.is_empty() && found.rejected == 0, "{length}: {found:?}");
    }
    let found = search.run(3).sequences;
    assert!(!found.is_empty());
    for sequence in found {
        assert_eq!(sequence.cost(search.target), 3);
        assert_eq!(sequence.eval(0x00ff_7f80, 0x0101_8080, 0), 0x0100_ff00);
    }
}

/// What one instruction, or none, computes is found as such.
#[test]
fn short_ones_are_found_at_their_length() {
    let all = ["logic", "sum", "shift", "bound", "absdiff"];
    let one = search("vabsdiff4.u32.u32.u32 d, a, b, c", &all, &[]);
    assert!(one.run(0).sequences.is_empty());
    assert_eq!(one.run(1).sequences.len(), 1);
    let form: Form = "vmin4.u32.u32.u32 d, a.b3210, b.b3210, c".parse().expect("a form");
    assert_eq!(form.eval(5, 7, 0), 5);
    let same = search("vmin4.u32.u32.u32 d, a.b3210, b.b3210, c", &all, &[]);
    assert_eq!(same.run(0).sequences.len(), 1);
}
