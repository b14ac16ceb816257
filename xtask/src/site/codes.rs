//! A page for each diagnostic code, and their list.

use std::collections::BTreeMap;

use vop_draw::html::escaped;

use super::search::Find;
use super::{Page, guide};
use crate::diagnostics::{Entry, GROUPS, advice, entries, explanation};

const SECTION: &str = "diagnostics/index.html";

pub(crate) fn pages(cases: &BTreeMap<String, String>) -> Vec<Page> {
    let entries = entries();
    let mut pages: Vec<Page> = entries.iter().map(|entry| page(entry, &entries, cases.get(entry.code))).collect();
    pages.push(list(&entries));
    pages
}

fn aside(entries: &[Entry], current: &str) -> String {
    let mut html = String::new();
    for (prefix, about) in GROUPS {
        let group: Vec<&Entry> = entries.iter().filter(|entry| entry.code.starts_with(prefix)).collect();
        let open = if group.iter().any(|entry| entry.code == current) { " open" } else { "" };
        html.push_str(&format!("<details{open}><summary>{}</summary><ul>", escaped(about)));
        for Entry { code, title, .. } in group {
            let here = if *code == current { " aria-current=\"page\"" } else { "" };
            html.push_str(&format!("<li><a href=\"{code}.html\"{here} title=\"{}\">{code}</a></li>", escaped(title)));
        }
        html.push_str("</ul></details>\n");
    }
    html
}

fn page(entry: &Entry, entries: &[Entry], case: Option<&String>) -> Page {
    let case = case.map_or("", String::as_str);
    let Entry { code, severity, title, explanation: words } = entry;
    let group = GROUPS.iter().find(|(prefix, _)| code.starts_with(prefix)).map_or("", |(_, about)| about);
    let advice = advice(code).unwrap_or_default();
    let text = guide::markdown(&explanation(words));
    let body = format!(
        "<p class=\"kind\">{}</p>\n<h1>{code}: {}</h1>\n<p class=\"severity {severity}\">{severity}</p>\n\
         <p class=\"advice\"><strong>What to do:</strong> {}</p>\n{text}{case}\
         <p><code>vop explain {code}</code> prints this text. <a href=\"../guide/check.html\">Checking sources</a> says how a finding is allowed.</p>\n",
        escaped(group),
        guide::inline(title),
        guide::inline(advice),
    );
    Page {
        path: format!("diagnostics/{code}.html"),
        title: format!("{code}: {}", title.replace('`', "")),
        description: format!("{severity} {code} of vop: {}. {}", title.replace('`', ""), advice.replace('`', "")),
        body,
        section: SECTION,
        aside: aside(entries, code),
        finds: vec![Find {
            title: format!("{code}: {}", title.replace('`', "")),
            kind: if code.starts_with("V07") { "lint" } else { "diagnostic" },
            anchor: None,
            text: format!("{advice} {words}"),
        }],
    }
}

fn list(entries: &[Entry]) -> Page {
    let mut body = String::from(
        "<h1>Diagnostics and lints</h1>\n<p>Every error, warning and note of vop has a code. A code keeps its meaning, and is never reused.</p>\n\
         <p><label>Show only: <input type=\"text\" class=\"filter\" data-filters=\"code\" placeholder=\"a word, a code\" autocomplete=\"off\" spellcheck=\"false\"></label></p>\n",
    );
    for (prefix, about) in GROUPS {
        body.push_str(&format!(
            "<section class=\"code-group\"><h2 id=\"{}\">{}</h2>\n<div class=\"scrolls\"><table class=\"plain\"><thead><tr><th scope=\"col\">code</th>\
             <th scope=\"col\">severity</th><th scope=\"col\">title</th><th scope=\"col\">what to do</th></tr></thead><tbody>\n",
            prefix.to_lowercase(),
            escaped(about)
        ));
        for Entry { code, severity, title, .. } in entries.iter().filter(|entry| entry.code.starts_with(prefix)) {
            body.push_str(&format!(
                "<tr class=\"code\" id=\"{}\"><td><a href=\"{code}.html\">{code}</a></td><td class=\"severity {severity}\">{severity}</td><td>{}</td><td>{}</td></tr>\n",
                code.to_lowercase(),
                guide::inline(title),
                guide::inline(advice(code).unwrap_or_default())
            ));
        }
        body.push_str("</tbody></table></div></section>\n");
    }
    Page {
        path: SECTION.into(),
        title: "Diagnostics and lints".into(),
        description: "All errors, warnings and notes of vop on PTX video instructions and on kernels that it runs, with what to do about each.".into(),
        body,
        section: SECTION,
        aside: String::new(),
        finds: vec![Find { title: "Diagnostics and lints".into(), kind: "guide", anchor: None, text: "all codes errors warnings notes".into() }],
    }
}
