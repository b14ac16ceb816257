//! The front page, the playground and the table of costs.

use vop::lower::LowerOptions;
use vop::{Deviations, Form, Mnemonic, Semantics, Target};
use vop_draw::html::escaped;
use vop_draw::mnemonic::example;

use super::search::Find;
use super::{Data, Page, instructions};
use crate::docs::touched;

fn of(text: &str) -> Form {
    text.parse().unwrap_or_else(|faults| panic!("the example `{text}` is not legal: {faults:?}"))
}

/// The instructions in a table.
pub(crate) fn front() -> Page {
    let target: Target = "sm_90".parse().expect("a target that was measured");
    let mut body = String::from(
        "<h1>PTX video instructions</h1>\n\
         <p class=\"lead\">The 23 video instructions of NVIDIA's PTX, from <code>vadd</code> to <code>vset4</code>: what each modifier does, drawn; \
         what the manual says, and what ptxas's code computes instead; what they cost, and how they cost less.</p>\n\
         <form class=\"ask\" action=\"playground.html\"><label for=\"ask\">Paste an instruction from your code</label>\
         <div><input id=\"ask\" name=\"i\" type=\"text\" value=\"vadd4.s32.s32.u32.sat d.b20, a, b, c\" autocomplete=\"off\" spellcheck=\"false\" autocapitalize=\"off\">\
         <button type=\"submit\">Explain</button></div></form>\n\
         <p>The <a href=\"playground.html\">playground</a> explains instructions, judges CUDA and PTX files, and runs small kernels. It works in this \
         browser alone: nothing is sent anywhere.</p>\n\
         <div class=\"filters\" role=\"group\" aria-label=\"Show only\"><button type=\"button\" data-shape=\"\" aria-pressed=\"true\">all</button>",
    );
    for (shape, name) in [("scalar", "scalar"), ("halves", "half-words"), ("bytes", "bytes")] {
        body.push_str(&format!(
            "<button type=\"button\" data-shape=\"{shape}\" aria-pressed=\"false\">{name}</button>"
        ));
    }
    body.push_str(
        "<input type=\"text\" class=\"filter\" data-filters=\"mnemonic\" placeholder=\"name or word\" aria-label=\"Show only instructions with this word\" autocomplete=\"off\" spellcheck=\"false\"></div>\n\
         <div class=\"scrolls\"><table class=\"plain mnemonics\"><thead><tr><th scope=\"col\">instruction</th><th scope=\"col\">what it does</th>\
         <th scope=\"col\">example</th><th scope=\"col\">forms</th><th scope=\"col\">ptxas differs</th><th scope=\"col\">cost of the example, sm_90</th></tr></thead><tbody>\n",
    );
    for (shape, (_, mnemonics)) in ["scalar", "halves", "bytes"].into_iter().zip(instructions::groups()) {
        for mnemonic in mnemonics {
            body.push_str(&row(mnemonic, shape, target));
        }
    }
    body.push_str(
        "</tbody></table></div>\n<p><b>ptxas differs</b>: the forms for which the code of ptxas 13.3 and later disagrees with the manual on some \
         inputs (<a href=\"guide/ptxas.html\">which, and why</a>). <b>Cost</b>: machine instructions as ptxas makes them, and after \
         <a href=\"guide/lower.html\"><code>vop lower</code></a>, which is proved equivalent.</p>\n\
         <h2>With the command</h2>\n<p>The command <code>vop</code> does the same on your machine, and more: it checks and mends source trees, carries \
         them to HIP, SYCL or C++, and runs CUDA programs without a GPU. The <a href=\"guide/index.html\">guide</a> says how.</p>\n",
    );
    Page {
        path: "index.html".into(),
        title: "PTX video instructions: vadd, vabsdiff4, vmad, vset2 …".into(),
        description: "Reference of the 23 video instructions of NVIDIA's PTX: drawings of every modifier, errors of ptxas, costs, cheaper sequences with proofs, ports, and a playground.".into(),
        body,
        section: "index.html",
        aside: String::new(),
        finds: vec![Find { title: "All instructions".into(), kind: "instruction", anchor: None, text: "PTX video instructions list".into() }],
    }
}

fn row(mnemonic: Mnemonic, shape: &str, target: Target) -> String {
    let row = mnemonic.row();
    let text = example(mnemonic);
    let form = of(&text);
    let (cost, lowering) = (form.cost(target), form.lower(LowerOptions::new(target)));
    let lowered = match lowering.sequence {
        Some(_) if lowering.cost < cost => format!(" → <b>{}</b>", lowering.cost),
        _ => String::new(),
    };
    let differing = match mnemonic.shape().is_simd() {
        true => "none found".to_owned(),
        false => vop::grouped(touched(Deviations::NONE, Semantics::Ptxas.deviations(), mnemonic.forms()) as u64),
    };
    format!(
        "<tr class=\"mnemonic\" data-shape=\"{shape}\"><td><a href=\"instructions/{mnemonic}.html\"><code>{mnemonic}</code></a></td><td>{}</td>\
         <td><a href=\"{}\"><code>{}</code></a></td><td class=\"number\">{}</td><td class=\"number\">{differing}</td><td class=\"number\">{cost}{lowered}</td></tr>\n",
        escaped(row.summary),
        super::permalink("", &text, None),
        escaped(&text),
        vop::grouped(mnemonic.forms().count_left()),
    )
}

/// The playground. Its script makes what it shows.
pub(crate) fn playground() -> Page {
    let names = |names: Vec<String>| names.join(" ");
    let targets = names(Target::all().map(|target| target.to_string()).collect());
    let languages = names(vop_port::Target::all().map(|target| target.name().to_owned()).collect());
    let body = format!(
        "<h1>Playground</h1>\n\
        <div class=\"tabs\" role=\"tablist\" aria-label=\"What to look at\">\
        <button role=\"tab\" id=\"tab-instruction\" aria-controls=\"panel-instruction\" aria-selected=\"true\" type=\"button\">Instruction</button>\
        <button role=\"tab\" id=\"tab-file\" aria-controls=\"panel-file\" aria-selected=\"false\" tabindex=\"-1\" type=\"button\">File</button>\
        <button role=\"tab\" id=\"tab-kernel\" aria-controls=\"panel-kernel\" aria-selected=\"false\" tabindex=\"-1\" type=\"button\">Kernel</button></div>\n\
        <section role=\"tabpanel\" id=\"panel-instruction\" aria-labelledby=\"tab-instruction\" class=\"playground large\" \
        data-text=\"vadd4.s32.s32.u32.sat d.b20, a, b, c\" data-targets=\"{targets}\" data-languages=\"{languages}\"></section>\n\
        <section role=\"tabpanel\" id=\"panel-file\" aria-labelledby=\"tab-file\" hidden></section>\n\
        <section role=\"tabpanel\" id=\"panel-kernel\" aria-labelledby=\"tab-kernel\" hidden></section>\n\
        <noscript><p>The playground needs JavaScript and WebAssembly. The pages of the <a href=\"index.html\">instructions</a> do not.</p></noscript>\n"
    );
    Page {
        path: "playground.html".into(),
        title: "Playground".into(),
        description: "Type a PTX video instruction and see what it computes, lane by lane; judge a CUDA file; run a small PTX kernel in the browser.".into(),
        body,
        section: "playground.html",
        aside: String::new(),
        finds: vec![Find {
            title: "Playground".into(),
            kind: "guide",
            anchor: None,
            text: "try explain an instruction with values judge a CUDA file run a kernel in the browser".into(),
        }],
    }
}

/// All costs in one table.
pub(crate) fn costs(data: &Data) -> Page {
    let body = format!(
        "<h1>Costs</h1>\n<p>Machine instructions that ptxas 13.5 makes of a form, and, behind an arrow, of what <code>vop lower</code> writes in its \
         place. The forms show each modifier, or are used in public projects. A heading sorts by its column. The \
         <a href=\"playground.html\">playground</a> has the costs of every form.</p>\n\
         <p><label>Show only: <input type=\"text\" class=\"filter\" data-filters=\"cost\" placeholder=\"vadd4 .sat\" autocomplete=\"off\" spellcheck=\"false\"></label></p>\n\
         <div class=\"scrolls\"><table class=\"plain costs sorts\">{}<tbody>\n{}</tbody></table></div>\n",
        instructions::cost_head(),
        instructions::all_costs(data)
    );
    Page {
        path: "costs.html".into(),
        title: "Costs".into(),
        description: "What PTX video instructions cost on NVIDIA's GPUs, in machine instructions, as ptxas compiles them and after vop lower.".into(),
        body,
        section: "costs.html",
        aside: String::new(),
        finds: vec![Find { title: "Costs".into(), kind: "guide", anchor: None, text: "cost machine instructions by target sm_75 sm_90 sm_120 latency throughput".into() }],
    }
}
