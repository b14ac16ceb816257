//! The drawings as HTML, for pages: tables of stages, and what is drawn for terminals with its colours as classes.
//!
//! ```
//! let form: vop::Form = "vadd4.s32.s32.s32.sat".parse().unwrap();
//! let table = vop_draw::html::stages(&form.explain(0x7f, 1, 0));
//! assert!(table.contains("<td class=\"clamped\"><span class=\"value\">↓127</span></td>"));
//! assert_eq!(vop_draw::html::of_drawing("\x1b[1ma < b\x1b[0m"), "<span class=\"bold\">a &lt; b</span>");
//! ```

use core::fmt::Write;

use vop::eval::Trace;

use crate::rows::{Cell, Emphasis, Kind, Row, rows};

/// A text in which no character means anything in HTML, neither between tags nor in an attribute's quotes.
pub fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
    html
}

/// A drawing for terminals as the content of a `pre` element: escape sequences become spans with the classes `bold`, `dim`, `red`,
/// `green`, `yellow`, `blue`, `magenta` and `cyan`.
pub fn of_drawing(drawing: &str) -> String {
    let mut html = String::with_capacity(drawing.len() * 2);
    let mut parts = drawing.split("\x1b[");
    html.push_str(&escaped(parts.next().unwrap_or_default()));
    let mut classes: Vec<&str> = Vec::new();
    for part in parts {
        let end = part.find(|c: char| c.is_ascii_alphabetic()).map_or(part.len(), |letter| letter + 1);
        let (sequence, text) = part.split_at(end);
        for parameter in sequence.trim_end_matches(|c: char| c.is_ascii_alphabetic()).split(';') {
            match parameter.parse::<u8>().unwrap_or(0) {
                0 => classes.clear(),
                1 => classes.push("bold"),
                2 => classes.push("dim"),
                colour @ (31..=36 | 91..=96) => {
                    let colours = ["red", "green", "yellow", "blue", "magenta", "cyan"];
                    classes.extend(colours.get(usize::from(colour % 10 - 1)));
                }
                _ => {}
            }
        }
        if text.is_empty() {
        } else if classes.is_empty() {
            html.push_str(&escaped(text));
        } else {
            let _ = write!(html, "<span class=\"{}\">{}</span>", classes.join(" "), escaped(text));
        }
    }
    html
}

/// The stages of an instruction as a table with the class `stages`: a row a stage, and of SIMD instructions a column for each lane, the
/// highest first.
///
/// Digits are in spans of the class `digits`, values in spans of the class `value`. Cells that saturation moved have the class `clamped`,
/// those without effect `dim`, and the rows of d `result`.
pub fn stages(trace: &Trace) -> String {
    let (rows, foot) = rows(trace);
    let simd = trace.form.mnemonic().shape().is_simd();
    let columns = if simd { trace.lanes.len() } else { 3 };
    let mut html = format!("<table class=\"stages {}\">\n", if simd { "lanes" } else { "scalar" });
    if !simd {
        html.push_str(
            "<tr class=\"heading\"><th scope=\"col\">stage</th><th scope=\"col\">bits</th><th scope=\"col\">value</th>\
             <th scope=\"col\"><span class=\"unseen\">remark</span></th></tr>\n",
        );
    }
    for row in &rows {
        let class = match row.kind {
            Kind::Heading => " class=\"heading\"",
            Kind::Result => " class=\"result\"",
            Kind::Value => "",
        };
        let _ = write!(html, "<tr{class}><th scope=\"row\">{}</th>", escaped(&row.label));
        if simd {
            of_lanes(row, columns, &mut html)
        } else {
            of_stage(row, &mut html)
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</table>\n");
    if !foot.is_empty() {
        let _ = writeln!(html, "<p class=\"foot\">{}.</p>", escaped(foot));
    }
    html
}

fn of_lanes(row: &Row, columns: usize, html: &mut String) {
    for cell in row.cells.iter().rev() {
        let digits = span("digits", &cell.digits);
        let _ = write!(html, "<td{}>{digits}{}</td>", class_of(cell), span("value", &cell.value));
    }
    let note = escaped(&row.note);
    if row.cells.is_empty() {
        let _ = write!(html, "<td colspan=\"{columns}\" class=\"note\">{note}</td>");
    } else if !note.is_empty() {
        let _ =
            write!(html, "</tr>\n<tr class=\"result\"><th></th><td colspan=\"{columns}\" class=\"note\">{note}</td>");
    }
}

fn of_stage(row: &Row, html: &mut String) {
    for cell in &row.cells {
        // The part that brackets enclose is marked.
        let digits = escaped(&cell.digits).replace('[', "<mark>").replace(']', "</mark>");
        let value = escaped(&cell.value);
        let note = escaped(&row.note);
        let _ = write!(
            html,
            "<td class=\"digits\">{digits}</td><td{}>{value}</td><td class=\"note\">{note}</td>",
            class_of(cell)
        );
    }
}

fn span(class: &str, text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("<span class=\"{class}\">{}</span>", escaped(text)) }
}

fn class_of(cell: &Cell) -> &'static str {
    match cell.emphasis {
        Emphasis::None | Emphasis::Strong => "",
        Emphasis::Dim => " class=\"dim\"",
        Emphasis::Clamped => " class=\"clamped\"",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables say what the drawings for terminals say: all their words, in their order.
    #[test]
    fn tables_have_the_words_of_drawings() {
        for text in [
            "vadd4.s32.s32.u32.sat d.b20, a, b, c",
            "vabsdiff4.u32.u32.u32.add d.b310, a, b, c",
            "vmax2.s32.s32.s32 d, a.h02, b.h13, c",
            "vadd.s32.u32.s32.sat d.h1, a.b1, b.h0, c",
            "vmad.s32.s32.s32.shr7 d, a.h0, b.h1, -c",
            "vset.s32.s32.lt.add d, a.b0, b.h1, c",
        ] {
            let form: vop::Form = text.parse().expect("legal");
            let trace = form.explain(0x12f4_8056, 0xff7f_8001, 0x64);
            let table = stages(&trace);
            let words = |text: &str| {
                let text = text.replace("&lt;", "<").replace("&gt;", ">");
                text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
            };
            let drawing = crate::plain(&crate::explanation(&trace, [vop::interval::OperandValue::Free; 3]));
            // The stages stand between the sentences and the section.
            let stages: Vec<&str> = drawing.split("\n\n").nth(1).unwrap_or_default().lines().collect();
            let skip = usize::from(form.mnemonic().shape().is_simd());
            let text: String = stages[skip..].join(" ").replace(['[', ']'], "");
            let plain = table.replace("<mark>", "").replace("</mark>", "");
            let spaced: String = plain
                .split('<')
                .map(|part| part.split_once('>').map_or(part, |(_, text)| text))
                .collect::<Vec<_>>()
                .join(" ");
            let skipped = if skip == 0 { 4 } else { 0 };
            let found = words(&spaced)[skipped..].join(" ").trim_end_matches('.').to_owned();
            assert_eq!(found, words(&text).join(" "), "{text}");
        }
    }
}
