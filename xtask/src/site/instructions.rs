//! A page for each mnemonic.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::json;
use vop::interval::OperandValue;
use vop::isa::types::{Operation, Shape};
use vop::lower::LowerOptions;
use vop::{Deviation, Deviations, Form, Instruction, Intrinsic, Mnemonic, Parser, Registers, Semantics, Target};
use vop_draw::html::escaped;
use vop_draw::mnemonic::{Slot, example, modifiers, operands};
use vop_prove::Hash;

use super::effect::{effect, form, plain, spellings};
use super::example::{Example, Examples};
use super::search::Find;
use super::{Data, Page, guide, permalink};
use crate::docs::{semantics, touched};

const SECTION: &str = "index.html";
const UP: &str = "../";

/// The GPU whose lowering is shown.
const TARGET: &str = "sm_90";

pub(crate) fn pages(data: &Data, examples: &mut Vec<Example>) -> Vec<Page> {
    Mnemonic::ALL.into_iter().map(|mnemonic| page(mnemonic, data, examples)).collect()
}

/// The mnemonics, in groups of their shapes.
pub(crate) fn groups() -> [(&'static str, Vec<Mnemonic>); 3] {
    [(Shape::Scalar, "Scalar"), (Shape::Halves, "Two half-words"), (Shape::Bytes, "Four bytes")]
        .map(|(shape, name)| (name, Mnemonic::ALL.into_iter().filter(|mnemonic| mnemonic.shape() == shape).collect()))
}

fn aside(current: Mnemonic) -> String {
    let group = |(name, mnemonics): (&str, Vec<Mnemonic>)| {
        let links: String = mnemonics
            .iter()
            .map(|mnemonic| {
                let here = if *mnemonic == current { " aria-current=\"page\"" } else { "" };
                format!("<li><a href=\"{mnemonic}.html\"{here}><code>{mnemonic}</code></a></li>")
            })
            .collect();
        format!("<details open><summary>{name}</summary><ul>{links}</ul></details>\n")
    };
    groups().into_iter().map(group).collect()
}

fn read(text: &str) -> Instruction<'_> {
    Parser::new()
        .allow_bare()
        .parse(text)
        .unwrap_or_else(|faults| panic!("the example `{text}` is not legal: {faults:?}"))
}

fn page(mnemonic: Mnemonic, data: &Data, examples: &mut Vec<Example>) -> Page {
    let row = mnemonic.row();
    let path = format!("instructions/{mnemonic}.html");
    let mut drawn = Examples { page: path.clone(), up: UP, all: examples };
    let (major, minor) = row.version;
    let slots = modifiers(mnemonic);
    let text = example(mnemonic);
    let mut forms: Vec<Form> = vec![read(&text).form];
    let mut finds = vec![Find {
        title: format!("{mnemonic}: {}", row.summary),
        kind: "instruction",
        anchor: None,
        text: format!("{} {} sm_{} PTX video instruction", row.syntax, row.section, row.target),
    }];
    let mut body = format!(
        "<p class=\"kind\">{}</p>\n<h1><code>{mnemonic}</code>: {}</h1>\n\
         <p class=\"facts\"><span>PTX ISA {}</span><span><code>.version {major}.{minor}</code></span><span>from <code>sm_{}</code></span>\
         <span>{} forms</span></p>\n<p class=\"syntax\"><code>{}</code></p>\n",
        match mnemonic.shape() {
            Shape::Scalar => "Scalar video instruction",
            Shape::Halves => "SIMD video instruction on two half-words",
            Shape::Bytes => "SIMD video instruction on four bytes",
        },
        escaped(row.summary),
        row.section,
        row.target,
        vop::grouped(mnemonic.forms().count_left()),
        syntax(mnemonic, &slots),
    );
    body.push_str(&contents());
    body.push_str(&try_it(mnemonic, &slots, &text, &mut drawn));
    body.push_str("<h2 id=\"modifiers\">What each modifier does</h2>\n");
    for (at, slot) in slots.iter().enumerate() {
        body.push_str(&of_slot(mnemonic, &slots, at, slot, &mut drawn, &mut forms));
        let words: Vec<String> = slot.values.iter().map(|(spelled, meaning)| format!("{spelled} {meaning}")).collect();
        finds.push(Find {
            title: format!("{mnemonic}: {}", slot.name),
            kind: "instruction",
            anchor: Some(slot_id(slot)),
            text: words.join(" "),
        });
    }
    body.push_str(&of_operands(mnemonic, &slots, &mut drawn, &mut forms));
    body.push_str(&of_ptxas(mnemonic, &mut drawn));
    let uses: Vec<&[String; 3]> =
        data.uses.iter().filter(|[form, ..]| form.split(['.', ' ']).next() == Some(row.name)).collect();
    for [used, ..] in &uses {
        forms.extend(used.parse::<Form>().ok());
    }
    body.push_str(&of_costs(&forms));
    body.push_str(&of_lowering(&text, data));
    let intrinsics = intrinsics(mnemonic);
    body.push_str(&of_intrinsics(&intrinsics));
    finds.extend(intrinsics.iter().map(|(intrinsic, form)| Find {
        title: format!("{intrinsic}: an intrinsic of CUDA C"),
        kind: "intrinsic",
        anchor: Some("intrinsics".into()),
        text: format!("{form} {}", intrinsic.describe()),
    }));
    body.push_str(&of_uses(&uses));
    finds.extend(uses.iter().map(|[used, projects, purposes]| Find {
        title: used.clone(),
        kind: "use",
        anchor: Some("uses".into()),
        text: format!("{projects} {purposes}"),
    }));
    body.push_str(&of_ports(&text));
    Page {
        path,
        title: format!("{mnemonic}: {}", row.summary),
        description: format!(
            "{mnemonic} of NVIDIA's PTX: {}. Syntax, every modifier drawn, what ptxas computes differently, costs, cheaper PTX with a proof, \
             intrinsics, and the same in C, HIP, Rust, OpenCL and others.",
            row.summary
        ),
        body,
        section: SECTION,
        aside: aside(mnemonic),
        finds,
    }
}

/// Links to the parts of the page.
fn contents() -> String {
    let links: String = [
        ("try", "Try it"),
        ("modifiers", "Modifiers"),
        ("operands", "Operands"),
        ("ptxas", "What ptxas computes"),
        ("costs", "Costs"),
        ("lowering", "Lowering"),
        ("intrinsics", "Intrinsics"),
        ("uses", "Uses"),
        ("ports", "Other languages"),
    ]
    .iter()
    .map(|(id, name)| format!("<a href=\"#{id}\">{name}</a>"))
    .collect();
    format!("<nav class=\"contents\" aria-label=\"On this page\">{links}</nav>\n")
}

fn slot_id(slot: &Slot) -> String {
    format!("modifier-{}", slot.name.trim_start_matches('.'))
}

/// The syntax, in which each modifier leads to its part of the page.
fn syntax(mnemonic: Mnemonic, slots: &[Slot]) -> String {
    let row = mnemonic.row();
    let (opcode, operands) = row.syntax.split_once(' ').unwrap_or((row.syntax, ""));
    let mut html = format!("<b>{mnemonic}</b>");
    let mut rest = opcode;
    for slot in slots {
        let Some(at) = rest.find(slot.name) else { continue };
        html.push_str(&escaped(&rest[..at]));
        let _ = write!(html, "<a href=\"#{}\">{}</a>", slot_id(slot), escaped(slot.name));
        rest = &rest[at + slot.name.len()..];
    }
    format!("{html}{} {}", escaped(rest), escaped(operands))
}

/// The example in a small playground, which is a drawing as long as nobody uses it.
fn try_it(mnemonic: Mnemonic, slots: &[Slot], text: &str, drawn: &mut Examples<'_>) -> String {
    let instruction = read(text);
    let inputs = instruction.telling_inputs(Semantics::Isa);
    let choices: Vec<_> = slots
        .iter()
        .map(|slot| json!({ "name": slot.name, "optional": slot.optional, "values": spellings(slot) }))
        .collect();
    let meaning = format!("<p>{}</p>\n", escaped(&instruction.form.describe()));
    format!(
        "<section class=\"playground small\" data-text=\"{}\" data-inputs=\"{}\" data-mnemonic=\"{mnemonic}\" data-slots=\"{}\">\n\
         <h2 id=\"try\">Try it</h2>\n<div class=\"static\">{}</div>\n</section>\n",
        escaped(text),
        inputs.map(|value| value.to_string()).join(","),
        escaped(&json!(choices).to_string()),
        drawn.figure(instruction.form, inputs, Semantics::Isa, &meaning),
    )
}

/// `0x…`, with all digits.
fn hex(value: u32) -> String {
    format!("<code>{value:#010x}</code>")
}

fn of_slot(
    mnemonic: Mnemonic,
    slots: &[Slot],
    at: usize,
    slot: &Slot,
    drawn: &mut Examples<'_>,
    forms: &mut Vec<Form>,
) -> String {
    let optional = if slot.optional { " <small>may be left out</small>" } else { "" };
    let mut html = format!("<section><h3 id=\"{}\"><code>{}</code>{optional}</h3>\n", slot_id(slot), slot.name);
    for (spelled, meaning) in &slot.values {
        let values: Vec<&str> = spelled.split_whitespace().collect();
        let names: Vec<String> = values.iter().map(|value| format!("<code>{value}</code>")).collect();
        let _ = writeln!(html, "<p>{}: {}.</p>", names.join(" or "), escaped(meaning));
        // Of the types one says what the other does not.
        let Some(value) = values.last().filter(|value| values.len() > 1 || **value != slot.name || slot.optional)
        else {
            continue;
        };
        let Some(effect) = effect(mnemonic, slots, at, value) else {
            html.push_str("<p>It changed d on none of the values that were tried.</p>\n");
            continue;
        };
        let [a, b, c] = effect.inputs;
        forms.push(effect.with);
        let other = effect.without.to_string();
        let sentence = format!(
            "<p>{} <a href=\"{}\"><code>{}</code></a> gives {}.</p>\n",
            if slot.optional { "Without it," } else { "On the same registers" },
            permalink(UP, &other, Some(effect.inputs)),
            escaped(&other),
            hex(effect.without.eval(a, b, c)),
        );
        html.push_str(&drawn.figure(effect.with, effect.inputs, Semantics::Isa, &sentence));
    }
    html.push_str("</section>\n");
    html
}

/// What stands on operands in the examples of the page: the text of operands, and what it shows.
fn selections(mnemonic: Mnemonic) -> Vec<(&'static str, &'static str)> {
    let negates = mnemonic.operation() == Operation::Mad;
    let mut shown = match mnemonic.shape() {
        Shape::Bytes => vec![
            (" d.b20, a, b, c", "A mask on d: bytes that it does not name are c's."),
            (" d, a.b0123, b.b7777, c", "Selectors: a's bytes reversed, and one byte of b in all lanes."),
            (" d, a.b7362, b.b5140, c", "A selector on a may name bytes of b, and one on b those of a."),
        ],
        Shape::Halves => vec![
            (" d.h1, a, b, c", "A mask on d: the half-word that it does not name is c's."),
            (" d, a.h01, b.h22, c", "Selectors: a's half-words exchanged, and one half-word of b in both lanes."),
            (" d, a.h31, b.h20, c", "A selector on a may name half-words of b, and one on b those of a."),
        ],
        Shape::Scalar if negates => {
            vec![
                (" d, a.b1, b.h1, c", "Selectors: a byte of a, a half-word of b."),
                (" d, -a, b, c", "The product is negated."),
                (" d, a, b, -c", "c is negated."),
            ]
        }
        Shape::Scalar => vec![(" d, a.b1, b.h1", "Selectors: a byte of a, a half-word of b.")],
    };
    if mnemonic.allows(vop::isa::table::Axis::Merge) {
        shown.push((" d.b2, a, b, c", "A selector on d: the result is put into this byte of c."));
        shown.push((" d.h1, a, b, c", "A selector on d: the result is put into this half-word of c."));
    }
    shown
}

fn of_operands(mnemonic: Mnemonic, slots: &[Slot], drawn: &mut Examples<'_>, forms: &mut Vec<Form>) -> String {
    let mut html = String::from(
        "<h2 id=\"operands\">Operands and selectors</h2>\n<div class=\"scrolls\"><table class=\"plain\"><thead><tr><th scope=\"col\">operand</th>\
         <th scope=\"col\">selectors</th><th scope=\"col\">what it is</th></tr></thead><tbody>\n",
    );
    for operand in operands(mnemonic) {
        let _ = writeln!(
            html,
            "<tr><td><code>{}</code></td><td><code>{}</code></td><td>{}</td></tr>",
            operand.name,
            escaped(&operand.selectors),
            escaped(&operand.meaning)
        );
    }
    html.push_str("</tbody></table></div>\n");
    let choice = plain(slots);
    let opcode: String = choice.iter().flatten().map(String::as_str).collect();
    for (operands, sentence) in selections(mnemonic) {
        let text = format!("{mnemonic}{opcode}{operands}");
        let instruction = read(&text);
        forms.push(instruction.form);
        let inputs = instruction.telling_inputs(Semantics::Isa);
        html.push_str(&drawn.figure(instruction.form, inputs, Semantics::Isa, &format!("<p>{sentence}</p>\n")));
    }
    debug_assert!(form(mnemonic, &choice).is_some());
    html
}

/// What ptxas's code computes differently, each deviation with a form and inputs that show it.
fn of_ptxas(mnemonic: Mnemonic, drawn: &mut Examples<'_>) -> String {
    let mut html = String::from("<h2 id=\"ptxas\">What ptxas computes</h2>\n");
    if mnemonic.shape().is_simd() {
        html.push_str(
            "<p>Every form that was tried is as the manual says. <a href=\"../guide/ptxas.html\">What ptxas computes</a> says how it was tried.</p>\n",
        );
        return html;
    }
    let forms = mnemonic.forms().count();
    let newest = touched(Deviations::NONE, Semantics::Ptxas.deviations(), mnemonic.forms());
    let _ = writeln!(
        html,
        "<p>For {} of {} forms the code of ptxas 13.3 and later computes another value than the manual on some inputs. The counts are exact: \
         every other form was proved equal with z3 (<a href=\"../guide/ptxas.html\">how</a>).</p>",
        vop::grouped(newest as u64),
        vop::grouped(forms as u64)
    );
    for &deviation in Deviation::ALL {
        let all = semantics(deviation).deviations();
        let concerned = || mnemonic.forms().filter(|form| deviation.concerns(*form));
        let shown = concerned().find_map(|form| {
            let inputs = form.separating(all.without(deviation), all, [OperandValue::Free; 3])?;
            let [a, b, c] = inputs;
            (form.eval(a, b, c) != form.eval_by(all, a, b, c)).then_some((form, inputs))
        });
        let Some((form, inputs)) = shown else { continue };
        let count = touched(all, all.without(deviation), concerned());
        let [a, b, c] = inputs;
        let who = semantics(deviation);
        let _ = writeln!(
            html,
            "<section><h3 id=\"ptxas-{deviation}\">{deviation}</h3>\n<p>{} forms, ptxas {}. At {}, the code {}. By the manual {}. \
             <a href=\"../guide/ptxas.html#{deviation}\">The machine code, and how to fix it</a></p>",
            vop::grouped(count as u64),
            who.releases().unwrap_or_default(),
            deviation.stage(),
            escaped(deviation.ptxas()),
            escaped(deviation.manual()),
        );
        let sentence = format!(
            "<p>So computes the code of ptxas; by the manual d is {}, by ptxas {}.</p>\n",
            hex(form.eval(a, b, c)),
            hex(form.eval_as(who, a, b, c))
        );
        html.push_str(&drawn.figure(form, inputs, who, &sentence));
        html.push_str("</section>\n");
    }
    html
}

/// A row of costs: as it is, and lowered where that is less.
pub(crate) fn cost_row(form: Form, up: &str) -> String {
    let text = form.to_string();
    let mut html = format!(
        "<tr class=\"cost\"><th scope=\"row\"><a href=\"{}\"><code>{}</code></a></th>",
        permalink(up, &text, None),
        escaped(&text)
    );
    for target in Target::MEASURED {
        let (cost, lowering) = (form.cost(target), form.lower(LowerOptions::new(target)));
        let lowered = match lowering.sequence {
            Some(_) if lowering.exact && lowering.cost < cost => format!(" → <b>{}</b>", lowering.cost),
            _ => String::new(),
        };
        let _ = write!(html, "<td data-value=\"{cost}\">{cost}{lowered}</td>");
    }
    html.push_str("</tr>\n");
    html
}

pub(crate) fn cost_head() -> String {
    let targets: String = Target::MEASURED.iter().map(|target| format!("<th scope=\"col\">{target}</th>")).collect();
    format!("<thead><tr><th scope=\"col\">form</th>{targets}</tr></thead>")
}

/// The forms without repetitions, in their order.
fn once(forms: &[Form]) -> Vec<Form> {
    let mut seen = std::collections::HashSet::new();
    forms.iter().copied().filter(|form| seen.insert(*form)).collect()
}

fn of_costs(forms: &[Form]) -> String {
    let rows: String = once(forms).into_iter().map(|form| cost_row(form, UP)).collect();
    format!(
        "<h2 id=\"costs\">Costs</h2>\n<p>Machine instructions that ptxas 13.5 makes of a form, and, where it is less, of what \
         <code>vop lower</code> writes in its place. The forms are those of this page and those that public projects use. The playground has the \
         costs of any form, and <a href=\"../costs.html\">one table</a> has those of all pages.</p>\n\
         <div class=\"scrolls\"><table class=\"plain costs\">{}<tbody>\n{rows}</tbody></table></div>\n",
        cost_head()
    )
}

/// The costs of all forms that are shown anywhere.
pub(crate) fn all_costs(data: &Data) -> String {
    let mut forms = Vec::new();
    for mnemonic in Mnemonic::ALL {
        let slots = modifiers(mnemonic);
        forms.push(read(&example(mnemonic)).form);
        for (at, slot) in slots.iter().enumerate() {
            for value in spellings(slot) {
                forms.extend(effect(mnemonic, &slots, at, &value).map(|effect| effect.with));
            }
        }
        let of_mnemonic = |[used, ..]: &&[String; 3]| used.split(['.', ' ']).next() == Some(mnemonic.row().name);
        forms.extend(data.uses.iter().filter(of_mnemonic).filter_map(|[used, ..]| used.parse::<Form>().ok()));
    }
    once(&forms).into_iter().map(|form| cost_row(form, "")).collect()
}

fn of_lowering(text: &str, data: &Data) -> String {
    let instruction = read(text);
    let form = instruction.form;
    let target: Target = TARGET.parse().expect("a target that was measured");
    let options = LowerOptions::new(target);
    let lowering = form.lower(options);
    let mut html = String::from("<h2 id=\"lowering\">Cheaper PTX, and its proof</h2>\n");
    let block = lowering.block(&instruction, &Registers::default());
    let Some(choice) = vop_prove::chosen(form, options) else {
        let _ = writeln!(
            html,
            "<p>On {TARGET} <code>{}</code> takes {} machine instructions, and vop knows nothing cheaper. It stays as it is.</p>",
            escaped(text),
            form.cost(target)
        );
        return html;
    };
    let by = options.semantics.deviations().concerning(form);
    let queries = choice.candidate.queries(form, by).unwrap_or_default();
    let hashes: Vec<Hash> = queries.iter().map(Hash::of).collect();
    let proved = hashes.iter().filter(|hash| data.proofs.has(**hash)).count();
    let status = match proved {
        all if all == hashes.len() && all > 0 => format!(
            "<span class=\"proved\">proved</span>: z3 found that {}, for every input. The proof holds for all selectors of the form",
            if all == 1 {
                "the one claim of the rule holds".to_owned()
            } else {
                format!("all {all} claims of the rule hold")
            }
        ),
        some => format!("<span class=\"unproved\">not proved</span>: {some} of {} claims are", hashes.len()),
    };
    let names: Vec<String> = hashes.iter().map(|hash| format!("<code>{hash}</code>")).collect();
    let _ = write!(
        html,
        "<p>What <code>vop lower --target {TARGET}</code> writes for <code>{}</code>, by the rule <i>{}</i>: {} machine instructions instead of {}.</p>\n\
         <pre class=\"code\"><code>{}</code></pre>\n<p>It is {status}. <code>vop prove</code> proves it again. \
         <small>Hashes of the claims, in <a href=\"../guide/golden.html\">tests/golden/proofs.txt</a>: {}</small></p>\n",
        escaped(text),
        escaped(lowering.rule),
        lowering.cost,
        form.cost(target),
        escaped(&block.to_string()),
        names.join(" ")
    );
    html
}

/// The intrinsics that are forms of a mnemonic.
fn intrinsics(mnemonic: Mnemonic) -> Vec<(Intrinsic, Form)> {
    let of = |intrinsic: Intrinsic| {
        intrinsic.form().filter(|form| form.mnemonic() == mnemonic).map(|form| (intrinsic, form))
    };
    Intrinsic::all().into_iter().filter_map(of).collect()
}

fn of_intrinsics(all: &[(Intrinsic, Form)]) -> String {
    let mut html = String::from("<h2 id=\"intrinsics\">Intrinsics of CUDA C</h2>\n");
    if all.is_empty() {
        html.push_str("<p>There are none for this instruction: CUDA C++ reaches it by <code>asm</code>.</p>\n");
        return html;
    }
    html.push_str(
        "<div class=\"scrolls\"><table class=\"plain\"><thead><tr><th scope=\"col\">intrinsic</th><th scope=\"col\">instruction</th>\
         <th scope=\"col\">what it computes</th></tr></thead><tbody>\n",
    );
    for (intrinsic, form) in all {
        let text = intrinsic.instruction().unwrap_or_else(|| form.to_string());
        let difference = intrinsic.difference().map(|words| format!(" {}", guide::inline(&words))).unwrap_or_default();
        let _ = writeln!(
            html,
            "<tr><td><code>{}</code></td><td><a href=\"{}\"><code>{}</code></a></td><td>{}{difference}</td></tr>",
            escaped(&intrinsic.to_string()),
            permalink(UP, &text, None),
            escaped(&text),
            guide::inline(&intrinsic.describe()),
        );
    }
    html.push_str("</tbody></table></div>\n");
    html
}

fn of_uses(uses: &[&[String; 3]]) -> String {
    let mut html = String::from("<h2 id=\"uses\">In public projects</h2>\n");
    if uses.is_empty() {
        html.push_str("<p>No use in a public project is known.</p>\n");
        return html;
    }
    let mut projects: BTreeMap<&str, usize> = BTreeMap::new();
    for [_, names, _] in uses {
        for name in names.split(';') {
            *projects.entry(name.trim()).or_default() += 1;
        }
    }
    let _ = writeln!(
        html,
        "<p>{} spellings in {} projects. <code>#5</code> stands for a number.</p>\n<div class=\"scrolls\"><table class=\"plain\"><thead><tr>\
         <th scope=\"col\">form</th><th scope=\"col\">projects</th><th scope=\"col\">which</th><th scope=\"col\">what for</th></tr></thead><tbody>",
        uses.len(),
        projects.len()
    );
    for [form, names, purposes] in uses {
        let _ = writeln!(
            html,
            "<tr><td><a href=\"{}\"><code>{}</code></a></td><td class=\"number\">{}</td><td>{}</td><td>{}</td></tr>",
            permalink(UP, &form.replace('#', ""), None),
            escaped(form),
            names.split(';').count(),
            escaped(names),
            escaped(purposes)
        );
    }
    html.push_str("</tbody></table></div>\n");
    html
}

fn of_ports(text: &str) -> String {
    let form = read(text).form;
    let mut html = format!(
        "<h2 id=\"ports\">In other languages</h2>\n<p>What <code>vop port '{}' --to LANGUAGE</code> writes: plain operations, proved equal to the \
         manual. <a href=\"../guide/porting.html\">Porting</a> says how a whole source tree is carried over.</p>\n",
        escaped(text)
    );
    for target in vop_port::Target::all() {
        let Ok(port) = vop_port::port(form, target, Semantics::Isa) else { continue };
        let _ = writeln!(
            html,
            "<details class=\"port\"><summary><b>{}</b> <span>{}</span> <small>{} operations</small></summary><pre class=\"code\"><code>{}</code></pre></details>",
            target.name(),
            escaped(target.description()),
            port.operations(),
            escaped(port.text().trim())
        );
    }
    html
}
