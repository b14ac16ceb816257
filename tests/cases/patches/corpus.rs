//! Faulty and strange instructions, and what they become when a help is applied. xtask's tests, which ask ptxas, read this file too.

use std::fmt::Write as _;

use vop::{Code, Diagnostic, Form, Mnemonic};
use vop_ptx::module::Module;
use vop_ptx::uses::{self, Verdict};
use vop_tests::Random;

/// Registers of every type, `t` and the names that blocks like to give among them: all are in use.
pub(super) const DECLARATIONS: &str = ".reg .pred p, q; .reg .b32 a, b, c, d, t, v_t, u, %r<3>, va, n; .reg .u32 uw; .reg .s32 sw; \
     .reg .f32 f; .reg .b16 h; .reg .u16 uh; .reg .s16 sh; .reg .u64 w; .reg .s64 wide; .reg .b64 bits; .reg .f64 fd; \
     .reg .f16 hf; .reg .f16x2 h2; .reg .b8 byte; .reg .u8 ubyte; .reg .s8 sbyte; .reg .b64 io;";

/// The registers of 32 bits, each of which is loaded before an instruction and stored behind it.
pub(super) const WORDS: [&str; 16] =
    ["a", "b", "c", "d", "t", "v_t", "u", "%r0", "%r1", "%r2", "va", "n", "uw", "sw", "f", "h2"];

/// The others, with the width of their loads and stores.
pub(super) const OTHERS: [(&str, &str); 11] = [
    ("h", "b16"),
    ("uh", "u16"),
    ("sh", "s16"),
    ("hf", "b16"),
    ("w", "u64"),
    ("wide", "s64"),
    ("bits", "b64"),
    ("fd", "f64"),
    ("byte", "b8"),
    ("ubyte", "u8"),
    ("sbyte", "s8"),
];

/// Where a register stands in the buffer: eight bytes for each.
pub(super) fn slot(name: &str) -> usize {
    let words = WORDS.iter().position(|word| *word == name);
    let others = || OTHERS.iter().position(|(other, _)| *other == name).map(|i| WORDS.len() + i);
    let predicates = || ["p", "q"].iter().position(|other| *other == name).map(|i| WORDS.len() + OTHERS.len() + i);
    8 * words.or_else(others).or_else(predicates).expect("a register of the list")
}

pub(super) const SLOTS: usize = WORDS.len() + OTHERS.len() + 2;

/// A module whose entry loads all registers, executes a text and stores them.
pub(super) fn module(text: &str) -> String {
    let mut module = format!(".version 8.6\n.target sm_90\n.address_size 64\n{}", entry("k", text));
    module.push('\n');
    module
}

/// The entry of [`module`].
pub(super) fn entry(name: &str, text: &str) -> String {
    let mut body =
        format!(".visible .entry {name}(.param .u64 buffer)\n{{\n{DECLARATIONS}\nld.param.u64 io, [buffer];\n");
    let (mut behind, mut before) = (String::new(), String::new());
    for word in WORDS {
        let _ = writeln!(before, "ld.global.b32 {word}, [io+{}];", slot(word));
        let _ = writeln!(behind, "st.global.b32 [io+{}], {word};", slot(word));
    }
    for (name, ty) in OTHERS {
        let _ = writeln!(before, "ld.global.{ty} {name}, [io+{}];", slot(name));
        let _ = writeln!(behind, "st.global.{ty} [io+{}], {name};", slot(name));
    }
    for predicate in ["p", "q"] {
        // `%r2` is loaded anew.
        let at = slot(predicate);
        let _ = writeln!(before, "ld.global.b32 %r2, [io+{at}];\nsetp.ne.u32 {predicate}, %r2, 0;");
        let _ = writeln!(behind, "selp.u32 %r2, 1, 0, {predicate};\nst.global.b32 [io+{at}], %r2;");
    }
    let _ = writeln!(before, "ld.global.b32 %r2, [io+{}];", slot("%r2"));
    body.push_str(&before);
    let _ = writeln!(body, "{text}\n{behind}ret;\n}}");
    body
}

/// An operand: as it is written, as it is written where it is legal, and what it is worth.
#[derive(Debug, Clone)]
pub(super) struct Operand {
    pub(super) text: String,
    pub(super) plain: String,
    pub(super) value: Value,
}

/// What an operand is worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Value {
    /// A register of 32 bits.
    Word(&'static str),
    Number(u32),
    /// A register of another type, read as the help says.
    Other(&'static str),
    /// A word and a number.
    Sum(&'static str, u32),
    /// The negated word; in SIMD forms each lane is negated.
    Negated(&'static str),
    /// Something that changes, or that no patch is offered for.
    Unknown,
}

/// An instruction.
#[derive(Debug, Clone)]
pub(super) struct Case {
    /// The guard with its blank.
    pub(super) guard: &'static str,
    pub(super) opcode: String,
    /// d, a, b, and perhaps c.
    pub(super) operands: Vec<Operand>,
}

impl Case {
    pub(super) fn text(&self) -> String {
        let operands: Vec<&str> = self.operands.iter().map(|operand| operand.text.as_str()).collect();
        format!("{}{} {};", self.guard, self.opcode, operands.join(", "))
    }

    /// Its form, if it would be legal with registers of 32 bits for operands.
    pub(super) fn form(&self) -> Option<Form> {
        let operands: Vec<&str> = self.operands.iter().map(|operand| operand.plain.as_str()).collect();
        format!("{} {}", self.opcode, operands.join(", ")).parse().ok()
    }
}

/// Guards: those that are right and those of other types.
const GUARDS: [&str; 14] = ["", "", "", "", "", "@p ", "@!q ", "@a ", "@!t ", "@f ", "@fd ", "@w ", "@h ", "@!bits "];

const SELECTORS: [&[&str]; 3] = [
    &["", "", "", ".b0", ".b3", ".h1", ".h0"],
    &["", "", ".h10", ".h32", ".h00", ".h21"],
    &["", "", ".b3210", ".b7654", ".b0000", ".b1024", ".b5460", ".b3715", ".b2222"],
];
const MASKS: [&[&str]; 3] = [&["", "", "", ".b1", ".h1"], &["", "", ".h0", ".h10"], &["", "", ".b0", ".b31", ".b3210"]];

fn pick<'a, T: ?Sized>(random: &mut Random, from: &[&'a T]) -> &'a T {
    from[(random.next() >> 20) as usize % from.len()]
}

/// A case by chance.
pub(super) fn case(random: &mut Random) -> Case {
    let mnemonic = Mnemonic::ALL[(random.next() >> 20) as usize % Mnemonic::ALL.len()];
    let name = mnemonic.name();
    let shape = name.bytes().last().map_or(0, |last| match last {
        b'2' => 1,
        b'4' => 2,
        _ => 0,
    });
    let types: String = (0..mnemonic.types()).map(|_| pick(random, &[".u32", ".s32"])).collect();
    let types = if matches!(name, "vshl" | "vshr") { types[..8].to_owned() + ".u32" } else { types };
    let more = match name {
        "vset" | "vset2" | "vset4" => pick(random, &[".eq", ".lt", ".ge", ".ne", ".gt.add"]),
        "vshl" | "vshr" => pick(random, &[".clamp", ".wrap", ".sat.wrap", ".clamp.add"]),
        "vmad" => pick(random, &["", ".sat", ".shr7", ".po"]),
        _ if shape == 0 => pick(random, &["", "", ".sat", ".min", ".sat.max", ".add"]),
        _ => pick(random, &["", "", ".sat", ".add"]),
    };
    let mut operands = Vec::new();
    let c_is_selected = shape == 0 && name != "vmad" && !more.contains(".add") && !more.contains(".m");
    let d_selector = if c_is_selected || shape > 0 { pick(random, MASKS[shape]) } else { "" };
    let needs_c = shape > 0 || name == "vmad" || more.contains(".add") || more.contains(".m") || !d_selector.is_empty();
    for i in 0..if needs_c { 4 } else { 3 } {
        let selector = match i {
            0 => d_selector,
            3 => "",
            _ => pick(random, SELECTORS[shape]),
        };
        let plain = |name: &str| format!("{name}{selector}");
        let letter = ["d", "a", "b", "c"][i];
        let operand = |text: String, value: Value| Operand { text, plain: plain(letter), value };
        let odd = (random.next() >> 20).is_multiple_of(3);
        operands.push(match (i, (random.next() >> 20) % 12) {
            (0, _) if !odd => operand(plain("d"), Value::Word("d")),
            (0, kind) => {
                let names = ["f", "w", "wide", "bits", "fd", "h", "uh", "sh", "hf", "h2", "q", "t"];
                let name = names[kind as usize % names.len()];
                let value = if matches!(name, "t" | "h2") { Value::Word(name) } else { Value::Other(name) };
                operand(plain(name), value)
            }
            (_, 0..3) if odd => {
                let (text, number) =
                    [("7", 7), ("-1", u32::MAX), ("0x80", 0x80), ("-32768", (-32768i32) as u32), ("0", 0)]
                        [(random.next() >> 20) as usize % 5];
                Operand { text: text.into(), plain: letter.into(), value: Value::Number(number) }
            }
            (_, 3) if odd && selector.is_empty() => {
                let name = ["b", "t", "c"][(random.next() >> 20) as usize % 3];
                Operand { text: format!("-{name}"), plain: letter.into(), value: Value::Negated(name) }
            }
            (3, 4..6) if odd => {
                let name = ["c", "t", "v_t", "h2"][(random.next() >> 20) as usize % 4];
                Operand { text: format!("{name}+5"), plain: letter.into(), value: Value::Sum(name, 5) }
            }
            (3, 6) if odd => Operand {
                text: pick(random, &["%laneid+1", "w+1", "uh+1", "%clock64+2", "%smid+1"]).to_owned(),
                plain: letter.into(),
                value: Value::Unknown,
            },
            (_, 7) if odd && selector.is_empty() => {
                let names = ["%tid.x", "%laneid", "%clock64", "%globaltimer", "%lanemask_lt", "%gridid", "%nctaid.y"];
                operand(names[(random.next() >> 20) as usize % names.len()].into(), Value::Unknown)
            }
            (_, 8..12) if odd => {
                let names =
                    ["f", "h2", "w", "wide", "bits", "h", "uh", "sh", "byte", "ubyte", "sbyte", "p", "fd", "hf"];
                let name = names[(random.next() >> 20) as usize % names.len()];
                operand(plain(name), if name == "h2" { Value::Word(name) } else { Value::Other(name) })
            }
            _ => {
                let name = ["a", "b", "c", "t", "v_t", "n", "va", "d", "uw", "sw"][(random.next() >> 20) as usize % 10];
                operand(plain(name), Value::Word(name))
            }
        });
    }
    Case {
        guard: GUARDS[(random.next() >> 20) as usize % GUARDS.len()],
        opcode: format!("{name}{types}{more}"),
        operands,
    }
}

/// The faults of a text in [`module`], with places in the text; and, where it is legal, its lints.
pub(super) fn judged(text: &str) -> (Vec<Diagnostic>, Vec<Diagnostic>) {
    let source = module(text);
    let start = source.find(text).expect("the text is there");
    let module = Module::parse(&source);
    let (mut faults, mut lints) = (Vec::new(), Vec::new());
    for found in uses::in_module(&module) {
        let inside =
            |one: Diagnostic| one.moved(|span| span.start.saturating_sub(start)..span.end.saturating_sub(start));
        if let Verdict::Illegal(found) = found.verdict {
            faults.extend(found.into_iter().map(inside));
        }
        lints.extend(found.lints.into_iter().map(inside));
    }
    (faults, lints)
}

/// The text when the help of a diagnostic is applied to it; `None` where the help is no patch, but words.
pub(super) fn applied(text: &str, one: &Diagnostic) -> Option<String> {
    let help = one.help.as_deref()?;
    let replaced = |instead: &str| Some(format!("{}{instead}{}", &text[..one.span.start], &text[one.span.end..]));
    // The statement around the place: the text may be in blocks of earlier patches.
    let start = text[..one.span.start].rfind([';', '{', '}']).map_or(0, |at| at + 1);
    let end = text[one.span.start..].find(';').map_or(text.len(), |at| one.span.start + at);
    let statement = |instead: &str| format!("{}\n{instead}{}", &text[..start], &text[end..]);
    if let Some((_, block)) = help.split_once(":\n") {
        // Behind a block there is no semicolon.
        return Some(format!("{}\n{block}{}", &text[..start], &text[(end + 1).min(text.len())..]));
    }
    let quoted = |help: &str| help.split('`').nth(1).map(str::to_owned);
    let guard = text[start..end].trim_start().split_once(' ').filter(|(word, _)| word.starts_with('@'));
    let guarded =
        |instead: &str| statement(&guard.map_or(instead.to_owned(), |(guard, _)| format!("{guard} {instead}")));
    match one.code {
        Code::V0706 if help.starts_with("to permute") => Some(statement(&quoted(help)?)),
        Code::V0311 if help.contains(": write `") => Some(guarded(&quoted(help)?)),
        Code::V0304 | Code::V0303 if help.starts_with("write `.") => replaced(&quoted(help)?),
        Code::V0305 | Code::V0202 | Code::V0702 | Code::V0704
            if help.starts_with("drop") || help.starts_with("leave") =>
        {
            let mut spans: Vec<_> =
                std::iter::once(&one.span).chain(one.related.iter().map(|(span, _)| span)).collect();
            if one.code != Code::V0704 {
                spans.truncate(1);
            }
            spans.sort_by_key(|span| std::cmp::Reverse(span.start));
            let mut text = text.to_owned();
            spans.into_iter().for_each(|span| text.replace_range(span.clone(), ""));
            Some(text)
        }
        Code::V0701 | Code::V0709 if help.starts_with("drop `.sat`") => {
            let at = start + text[start..end].find(".sat")?;
            Some(format!("{}{}", &text[..at], &text[at + 4..]))
        }
        Code::V0703 => {
            let comma = text[..one.span.start].rfind(',')?;
            Some(format!("{}{}", &text[..comma], &text[one.span.end..]))
        }
        Code::V0307 if help == "drop the minus" => replaced(""),
        Code::V0102 if help.starts_with("write `") && quoted(help)?.contains(' ') => Some(guarded(&quoted(help)?)),
        _ => None,
    }
}
