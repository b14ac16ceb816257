//! The library against facts measured with NVIDIA's tools.

use std::path::Path;

use vop::{Form, Parser, Registers, Semantics};
use vop_tests::golden::{self, rows, value};

/// The rows on which the parser and ptxas disagree, as lines of text.
fn misjudged(
    rows: impl Iterator<Item = (usize, Vec<&'static str>)>,
    legal: impl Fn(&[&str]) -> bool,
    text: impl Fn(&[&str]) -> String,
    parser: &Parser<'_>,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (line, row) in rows {
        let text = text(&row);
        let verdict = parser.parse(&text);
        if verdict.is_ok() != legal(&row) {
            wrong.push(format!("line {line}: {text}\n    ptxas: {row:?}\n    vop: {verdict:?}"));
        }
    }
    wrong
}

#[test]
fn accepts_what_ptxas_accepts() {
    let registers: Registers = golden::REGISTERS.parse().expect("legal declarations");
    let parser = Parser::new().with_registers(&registers);
    let judge = |legal: fn(&[&str]) -> bool| misjudged(rows(golden::ACCEPT), legal, |row| row[1].to_string(), &parser);
    let wrong = judge(|row| row[0] == "OK");
    assert!(wrong.is_empty(), "{} of 14,611 misjudged:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(rows(golden::ACCEPT).count(), 14_611);
    // The comparison can fail: against the opposite verdicts every row is wrong.
    assert_eq!(judge(|row| row[0] != "OK").len(), 14_611);
}

#[test]
fn judges_spellings_from_the_wild() {
    let registers: Registers = golden::REGISTERS_OF_SYNTAX_FORMS.parse().expect("legal declarations");
    let parser = Parser::new().with_registers(&registers);
    let wrong = misjudged(rows(golden::SYNTAX_FORMS), |row| row[1] == "ok", |row| row[0].replace("\\n", "\n"), &parser);
    assert!(wrong.is_empty(), "{} misjudged:\n{}", wrong.len(), wrong.join("\n"));
    assert_eq!(rows(golden::SYNTAX_FORMS).count(), 110);
}

#[test]
fn legal_texts_round_trip() {
    let parser = Parser::new();
    for (line, row) in rows(golden::ACCEPT).filter(|(_, row)| row[0] == "OK") {
        let instruction = parser.parse(row[1]).expect("golden row is legal");
        let canonical = instruction.to_string();
        let again = parser.parse(&canonical).unwrap_or_else(|faults| panic!("line {line}: {canonical}: {faults:?}"));
        assert_eq!(again.to_string(), canonical, "line {line}");
        assert_eq!(again.form, instruction.form, "line {line}");
        let form = instruction.form.to_string();
        assert_eq!(form.parse::<Form>().expect("a form's text is legal"), instruction.form, "line {line}: {form}");
    }
}

#[test]
fn values_by_the_manual_and_by_ptxas() {
    let mut count = 0;
    for (line, row) in rows(golden::VALUES) {
        let form: Form = row[0].parse().unwrap_or_else(|faults| panic!("line {line}: {}: {faults:?}", row[0]));
        let [a, b, c, manual, ptxas] = [1, 2, 3, 4, 5].map(|i| value(row[i]));
        assert_eq!(form.eval(a, b, c), manual, "line {line}: {row:?}");
        for (semantics, d) in [(Semantics::Isa, manual), (Semantics::Ptxas, ptxas)] {
            assert_eq!(form.eval_as(semantics, a, b, c), d, "{semantics}, line {line}: {row:?}");
            let trace = form.explain_as(semantics, a, b, c);
            assert_eq!(trace.d, d, "the stages make up the value, {semantics}, line {line}: {row:?}");
            assert_eq!(trace.deviations.is_empty(), d == manual, "{semantics}, line {line}: {row:?}");
        }
        assert!(manual == ptxas || form.divergence().is_some(), "line {line}: {row:?}");
        assert_eq!(form.uses_c(), row[3] != "-", "line {line}: {row:?}");
        count += 1;
    }
    assert_eq!(count, 31_290);
}

/// 483 rows that a public test suite took on a GPU, as far as can be told. ptxas's code computes all of them. The manual has another
/// value for one: 0xffffffff + 0x7fffffff by `vadd.u32.u32.s32.sat` is above U32_MAX, to which the manual clamps, and ptxas's code
/// adds modulo 2^32.
#[test]
fn values_on_a_device() {
    let mut differing = Vec::new();
    for (line, row) in rows(golden::DEVICE) {
        let form: Form = row[0].parse().unwrap_or_else(|faults| panic!("line {line}: {}: {faults:?}", row[0]));
        let [a, b, c, d] = [1, 2, 3, 4].map(|i| value(row[i]));
        assert_eq!(form.eval_as(Semantics::Ptxas, a, b, c), d, "line {line}: {row:?}");
        if form.eval(a, b, c) != d {
            differing.push(row);
        }
    }
    assert_eq!(rows(golden::DEVICE).count(), 483);
    assert_eq!(differing.len(), 1, "{differing:?}");
    assert_eq!(differing[0][..5], ["vadd.u32.u32.s32.sat d, a, b", "0xffffffff", "0x7fffffff", "-", "0x7ffffffe"]);
}

/// The spellings of real projects are legal, except two. ptxas refuses the same two (`cargo xtask golden uses.tsv`).
#[test]
fn spellings_of_real_projects() {
    let mut illegal = Vec::new();
    let mut count = 0;
    for (_, row) in rows(golden::USES).filter(|(_, row)| row[0].starts_with('v')) {
        // `#5` stands for an immediate 5.
        let text = row[0].replace('#', "");
        if Parser::new().allow_bare().parse(&text).is_err() {
            illegal.push(row[0]);
        }
        count += 1;
    }
    assert_eq!(count, 175);
    assert_eq!(illegal, ["vabsdiff4.u32.u32.u32.sat d, a, b, #0", "vabsdiff4.u32.u32.u32.sat.add d, a, b, c"]);
}

/// What lints say about the spellings of real projects is `uses-lints.txt` beside this file, which is rewritten by
/// `VOP_BLESS=1 cargo test -p vop-tests golden::lints`.
#[test]
fn lints_of_real_projects() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases/uses-lints.txt");
    let mut found = String::new();
    for (_, row) in rows(golden::USES).filter(|(_, row)| row[0].starts_with('v')) {
        let text = row[0].replace('#', "");
        let Ok((instruction, places)) = Parser::new().allow_bare().parse_with_places(&text) else { continue };
        let lints = vop::lint(&text, &instruction, &places);
        if !lints.is_empty() {
            found.push_str(&format!("{}\t{}\n", row[0], row[1]));
        }
        for lint in lints {
            found.push_str(&format!("    {} {}\n", lint.code.severity(), lint));
        }
    }
    if std::env::var_os("VOP_BLESS").is_some() {
        std::fs::write(&path, &found).expect("the file can be written");
    }
    assert_eq!(std::fs::read_to_string(&path).expect("the file is there"), found);
}
