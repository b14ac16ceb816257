//! Verdicts of ptxas on texts.

use std::sync::LazyLock;

use vop::{Parser, Registers};
use vop_tests::golden::{REGISTERS, REGISTERS_OF_SYNTAX_FORMS};

use super::Answer;
use crate::sass::{Setting, Toolchain, Verdict};

/// What `accept.tsv` and `uses.tsv` are judged with.
const SETTING: Setting<'_> = Setting { version: "8.0", target: "sm_75", declarations: REGISTERS };

/// What `syntax-forms.tsv` is judged with: a version that every release in its heading takes.
const SETTING_OF_SYNTAX_FORMS: Setting<'_> =
    Setting { version: "7.8", target: "sm_75", declarations: REGISTERS_OF_SYNTAX_FORMS };

/// The releases of ptxas that `syntax-forms.tsv` has a column for, in order.
const RELEASES: [&str; 4] = ["13.5", "12.9", "12.0", "11.8"];

fn judge(toolchain: &Toolchain, texts: &[impl AsRef<str>], setting: Setting<'_>) -> Result<Vec<Verdict>, String> {
    toolchain.judge(texts, setting).map_err(|error| error.to_string())
}

/// Of `accept.tsv`: OK or REJ, text, ptxas's message.
pub(super) fn accept(toolchain: &Toolchain, rows: &[Vec<&str>]) -> Result<Vec<Answer>, String> {
    let texts: Vec<&str> = rows.iter().map(|row| row.get(1).copied().unwrap_or_default()).collect();
    let verdicts = judge(toolchain, &texts, SETTING)?;
    let row = |(text, verdict): (&&str, Verdict)| match verdict {
        Ok(()) => format!("OK\t{text}\t"),
        Err(words) => format!("REJ\t{text}\t{words}"),
    };
    Ok(texts.iter().zip(verdicts).map(row).map(Answer::Row).collect())
}

/// Of `syntax-forms.tsv`: text, a verdict for each of [`RELEASES`], message of the newest. The release at hand answers its column.
pub(super) fn syntax_forms(toolchain: &Toolchain, rows: &[Vec<&str>]) -> Result<Vec<Answer>, String> {
    let release = RELEASES.iter().position(|release| *release == toolchain.version());
    let Some(column) = release else {
        return Err(format!(
            "ptxas is of {}, and the file has columns for {}",
            toolchain.version(),
            RELEASES.join(", ")
        ));
    };
    let texts: Vec<String> = rows.iter().map(|row| row[0].replace("\\n", "\n")).collect();
    let verdicts = judge(toolchain, &texts, SETTING_OF_SYNTAX_FORMS)?;
    let answer = |(row, verdict): (&Vec<&str>, Verdict)| {
        if row.len() != RELEASES.len() + 2 {
            return Answer::Fault(format!("it has {} cells instead of {}", row.len(), RELEASES.len() + 2));
        }
        let mut cells: Vec<String> = row.iter().map(|cell| (*cell).to_owned()).collect();
        let (word, message) = verdict.map_or_else(|words| ("REJ", words), |()| ("ok", String::new()));
        cells[1 + column] = word.into();
        if column == 0 {
            cells[RELEASES.len() + 1] = message;
        }
        Answer::Row(cells.join("\t"))
    };
    Ok(rows.iter().zip(verdicts).map(answer).collect())
}

/// What is judged in place of a row without a form.
const NOTHING: &str = "mov.b32 d, a";

/// The text to judge of a cell: `#5` stands for an immediate 5, and a form may lack its operands. A cell that names no form speaks of
/// a whole file.
fn text_of_use(cell: &str) -> String {
    if !cell.starts_with('v') {
        return NOTHING.into();
    }
    match Parser::new().allow_bare().parse(cell) {
        Ok(instruction) if !cell.contains(' ') => instruction.form.to_string(),
        _ => cell.replace('#', ""),
    }
}

/// Of `uses.tsv`: form, projects, what for. No tool can say who uses a form. ptxas and the library must agree on whether the form is
/// legal.
pub(super) fn uses(toolchain: &Toolchain, rows: &[Vec<&str>]) -> Result<Vec<Answer>, String> {
    let texts: Vec<String> = rows.iter().map(|row| text_of_use(row[0])).collect();
    let verdicts = judge(toolchain, &texts, SETTING)?;
    let answer = |((row, text), verdict): ((&Vec<&str>, &String), Verdict)| {
        if row.len() != 3 || row.iter().any(|cell| cell.is_empty()) {
            return Answer::Fault("it does not have three cells".into());
        }
        match (verdict, text == NOTHING || Parser::new().parse(text).is_ok()) {
            (Ok(()), false) => Answer::Fault("ptxas takes it, and the library does not".into()),
            (Err(words), true) => Answer::Fault(format!("ptxas refuses it ({words}), and the library does not")),
            _ => Answer::Row(row.join("\t")),
        }
    };
    Ok(rows.iter().zip(&texts).zip(verdicts).map(answer).collect())
}

/// The library's verdict on a text of `accept.tsv`, as the file writes it.
pub(super) fn library_verdict(text: &str) -> &'static str {
    static REGISTERS_OF_ACCEPT: LazyLock<Registers> =
        LazyLock::new(|| REGISTERS.parse().expect("the declarations are legal"));
    if Parser::new().with_registers(&*REGISTERS_OF_ACCEPT).parse(text).is_ok() { "OK" } else { "REJ" }
}
