//! The generated pages in docs/ are current, and what they say about machine code is true.

use std::sync::LazyLock;

use vop::Form;
use xtask::docs;

use crate::tools;

/// The pages, which take seconds to write.
static PAGES: LazyLock<[(&str, String); 3]> = LazyLock::new(docs::all);

#[test]
fn docs_are_up_to_date() {
    for (name, text) in PAGES.iter() {
        let path = format!("{}/../docs/{name}", env!("CARGO_MANIFEST_DIR"));
        let found = std::fs::read_to_string(&path).expect("docs/ can be read");
        assert!(
            found == *text,
            "docs/{name} is not what the code says now: run `cargo xtask docs` and look at the difference"
        );
    }
}

/// Every `cargo xtask sass run` of the page computes what its table says, and the machine instructions that it names occur.
#[test]
fn commands_of_ptxas_md_show_what_it_says() {
    let Some(toolchain) = tools::ptxas() else { return };
    let (_, page) = PAGES.iter().find(|(name, _)| *name == "ptxas.md").expect("it is generated");
    let sections = page.split("\n### ").skip(1).filter_map(|section| {
        let section = section.split("\n## ").next().unwrap_or_default();
        // The one with another ptxas cannot be run here.
        let command = section.lines().find_map(|line| line.trim().strip_prefix("cargo xtask sass run '"))?;
        let (form, values) = command.split_once("' ").expect("a form in quotes");
        Some((section, form, values))
    });
    let sections: Vec<(&str, &str, &str)> = sections.collect();
    let forms: Vec<&str> = sections.iter().map(|(_, form, _)| *form).collect();
    let codes = toolchain.compile(&forms, "sm_90").expect("ptxas takes them");
    assert_eq!(codes.len(), 10);
    for ((section, form, values), code) in sections.into_iter().zip(codes) {
        let row = page.lines().find(|line| line.contains(&format!("`{form}`"))).expect("a row of the table");
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        let [d, isa] = [cells[6], cells[7]].map(|cell| u32::from_str_radix(cell, 16).expect("hexadecimal"));
        let mut values = values.split(' ').map(|value| match value.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).expect("hexadecimal"),
            None => value.parse::<i32>().expect("decimal") as u32,
        });
        let [a, b, c] = [(); 3].map(|()| values.next().unwrap_or(0));
        assert_eq!(code.run(a, b, c), Ok(d), "{form}");
        assert_eq!(form.parse::<Form>().expect("legal").eval(a, b, c), isa, "{form}");

        let about =
            section.split("*In the code:* ").nth(1).expect("a paragraph").split("\n\n").next().unwrap_or_default();
        for opcode in about.split('`').skip(1).step_by(2).filter_map(|text| text.split_whitespace().next()) {
            let upper = opcode.starts_with(|c: char| c.is_ascii_uppercase());
            let occurs = code.lines().any(|line| line.split_whitespace().any(|word| word == opcode));
            assert!(!upper || occurs, "{form}: there is no {opcode} in\n{code}");
        }
    }
}
