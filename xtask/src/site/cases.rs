//! What causes a diagnostic: texts and kernels of the tests, with what is said of them.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use vop::{Parser, Registers};
use vop_draw::html::{escaped, of_drawing};

use super::permalink;

/// What is declared where the texts stand (crates/vop/tests/diagnostics.rs).
const REGISTERS: &str = ".reg .pred p; .reg .b32 a, b, c, d, %r<9>; .reg .f32 f; .reg .b16 h; .reg .u64 w; .reg .v4 .u32 v; .reg .f16x2 h2;";

/// An example of each code for which the tests have one, in HTML.
///
/// # Errors
/// A sentence, if a file cannot be read.
pub(crate) fn cases(root: &Path) -> Result<BTreeMap<String, String>, String> {
    let mut found = BTreeMap::new();
    for name in ["diagnostics.txt", "lints.txt"] {
        let text = read(&root.join("crates/vop/tests/cases").join(name))?;
        for case in text.lines().filter(|line| !line.is_empty() && !line.starts_with([' ', '#'])) {
            of_text(&case.replace("\\n", "\n"), &mut found);
        }
    }
    let folder = root.join("crates/vop-run/tests/data/run");
    let entries = std::fs::read_dir(&folder).map_err(|error| format!("cannot read {}: {error}", folder.display()))?;
    let mut kernels: Vec<_> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    kernels.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("error-") && name.ends_with(".ptx")
    });
    kernels.sort();
    for path in kernels {
        of_kernel(&read(&path)?, &mut found);
    }
    Ok(found)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))
}

/// The findings of a text: the first text with a code is its example.
fn of_text(text: &str, found: &mut BTreeMap<String, String>) {
    let registers: Registers = REGISTERS.parse().expect("declarations");
    let findings = match Parser::new().with_registers(&registers).parse_with_places(text) {
        Err(faults) => faults,
        Ok((instruction, places)) => vop::lint(text, &instruction, &places),
    };
    let is_new = |code: &str| !found.contains_key(code);
    let new: Vec<String> = findings.iter().map(|one| one.code.name().to_owned()).filter(|code| is_new(code)).collect();
    let drawing = of_drawing(vop_draw::diagnostics(&findings, text).trim_end());
    for code in new {
        let html = format!(
            "<h2>Example</h2>\n<pre class=\"drawing\">{drawing}</pre>\n<p><a href=\"{}\">Change it in the playground</a></p>\n",
            permalink("../", text, None)
        );
        found.insert(code, html);
    }
}

/// A kernel whose last comments are what a run of it says.
fn of_kernel(text: &str, found: &mut BTreeMap<String, String>) {
    let Some((kernel, said)) = text.split_once("\n// =>\n") else { return };
    let said: Vec<&str> = said.lines().map(|line| line.strip_prefix("// ").unwrap_or(line)).collect();
    let said = said.join("\n");
    for part in said.split("[V").skip(1) {
        let Some((digits, _)) = part.split_once(']') else { continue };
        let code = format!("V{digits}");
        if digits.len() != 4 || found.contains_key(&code) {
            continue;
        }
        let mut html = String::from("<h2>Example</h2>\n<pre class=\"code\"><code>");
        for (at, line) in kernel.lines().enumerate() {
            let _ = writeln!(html, "<span class=\"dim\">{:>3}</span>  {}", at + 1, escaped(line));
        }
        let _ = write!(
            html,
            "</code></pre>\n<p>What a run of it says:</p>\n<pre class=\"code\"><code>{}</code></pre>\n",
            escaped(&said)
        );
        found.insert(code, html);
    }
}
