//! A mnemonic: its syntax, what each part of it means, an example, and all of that as a page.

use serde_json::{Value, json};
use vop::isa::table::Axis;
use vop::isa::types::{Comparison, Operation, PLUS_ONE, Part, SAT, Scale, Secondary, Shape, ShiftMode, Type};
use vop::{Instruction, Mnemonic, Parser, Semantics};

/// A part of the syntax, such as `.dtype`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Slot {
    /// As the syntax has it, without braces.
    pub name: &'static str,
    /// Whether it may be left out.
    pub optional: bool,
    /// Spellings, and what each means. Those that mean one thing stand together: `.u32 .s32`.
    pub values: Vec<(String, String)>,
}

/// An operand, what may stand on it, and what it means.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Operand {
    /// `d`, `a`, `b` or `c`.
    pub name: &'static str,
    /// The selectors that it takes, in words; empty if it takes none.
    pub selectors: String,
    /// What it is.
    pub meaning: String,
}

fn spelled<T: ToString>(values: &[T]) -> String {
    values.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

/// The modifiers in the order of the syntax.
pub fn modifiers(mnemonic: Mnemonic) -> Vec<Slot> {
    let simd = mnemonic.shape().is_simd();
    let lanes = if simd { "each lane of " } else { "" };
    let mut slots = Vec::new();
    let mut ty = |name: &'static str, text: String| {
        let values = vec![(spelled(Type::ALL), text)];
        slots.push(Slot { name, optional: false, values });
    };
    if mnemonic.allows(Axis::Dtype) {
        ty(".dtype", format!("type of {lanes}d: unsigned or signed"));
    }
    ty(".atype", format!("type of {lanes}a: unsigned or signed"));
    if mnemonic.allows(Axis::Btype) {
        ty(".btype", format!("type of {lanes}b: unsigned or signed"));
    } else {
        slots.push(Slot { name: ".u32", optional: false, values: vec![(".u32".into(), "type of b: unsigned".into())] });
    }
    let accumulate = "adds the results of all lanes in the mask to c".to_owned();
    let saturate = match (simd, mnemonic.allows(Axis::Merge)) {
        (true, _) => "clamps each lane to the range that .dtype has in a lane",
        (false, true) => "clamps the result to the range of .dtype, or to that of d's part if d has a selector",
        (false, false) => "clamps the result to the range of .dtype",
    };
    let all = |values: &[(&dyn ToString, &str)]| {
        values.iter().map(|(spelling, meaning)| (spelling.to_string(), (*meaning).to_owned())).collect::<Vec<_>>()
    };
    let comparison = |comparison: &Comparison| {
        let meaning = match comparison {
            Comparison::Eq => "a equals b",
            Comparison::Ne => "a differs from b",
            Comparison::Lt => "a is less than b",
            Comparison::Le => "a is at most b",
            Comparison::Gt => "a is greater than b",
            Comparison::Ge => "a is at least b",
        };
        (comparison.to_string(), format!("1 if {meaning}, else 0"))
    };
    for (axis, name, values) in [
        (Axis::PlusOne, ".po", vec![(format!(".{PLUS_ONE}"), "adds 1 to the sum a * b + c".to_owned())]),
        (Axis::Sat, ".sat", vec![(format!(".{SAT}"), saturate.to_owned())]),
        (
            Axis::Scale,
            ".scale",
            all(&[
                (&Scale::Shr7, "shifts the sum right by 7 bits"),
                (&Scale::Shr15, "shifts the sum right by 15 bits"),
            ]),
        ),
        (
            Axis::ShiftMode,
            ".mode",
            all(&[
                (&ShiftMode::Clamp, "shift amounts over 32 count as 32"),
                (&ShiftMode::Wrap, "the lower five bits of the shift amount count"),
            ]),
        ),
        (Axis::Comparison, ".cmp", Comparison::ALL.iter().map(comparison).collect()),
        (
            Axis::Secondary,
            ".op2",
            all(&[
                (&Secondary::Add, "adds c to the result"),
                (&Secondary::Min, "takes the lesser of the result and c"),
                (&Secondary::Max, "takes the greater of the result and c"),
            ]),
        ),
        (Axis::Accumulate, ".add", vec![(Secondary::Add.to_string(), accumulate)]),
    ] {
        if mnemonic.allows(axis) {
            slots.push(Slot { name, optional: !matches!(axis, Axis::Comparison | Axis::ShiftMode), values });
        }
    }
    slots
}

/// The operands in the order of the syntax.
pub fn operands(mnemonic: Mnemonic) -> Vec<Operand> {
    let parts = spelled(Part::ALL);
    let negated = if mnemonic.allows(Axis::Negation) { "; a minus before it negates it" } else { "" };
    let source = |name: &'static str, of: &str| {
        let (selectors, meaning) = match mnemonic.shape() {
            Shape::Scalar => {
                (parts.clone(), format!("register or number; a byte or half-word of it, or all of it{negated}"))
            }
            Shape::Halves => (
                ".hxy".to_owned(),
                format!("register; x and y choose half-words: 0 and 1 are a's, 2 and 3 b's; default {of}"),
            ),
            Shape::Bytes => (
                ".bxyzw".to_owned(),
                format!("register; x, y, z and w choose bytes: 0 to 3 are a's, 4 to 7 b's; default {of}"),
            ),
        };
        Operand { name, selectors, meaning }
    };
    let defaults = if mnemonic.shape() == Shape::Halves { [".h10", ".h32"] } else { [".b3210", ".b7654"] };
    let d = match mnemonic.shape() {
        Shape::Scalar if mnemonic.allows(Axis::Merge) => Operand {
            name: "d",
            selectors: parts.clone(),
            meaning: "register; with a selector the result is put into this part of c, and d is that".to_owned(),
        },
        Shape::Scalar => Operand { name: "d", selectors: String::new(), meaning: "register".to_owned() },
        shape => Operand {
            name: "d",
            selectors: if shape == Shape::Halves {
                ".h0 .h1 .h10".to_owned()
            } else {
                ".b0 .b1 .b10 … .b3210".to_owned()
            },
            meaning: format!("register; the lanes that are written, highest first; default {}", defaults[0]),
        },
    };
    let c = match mnemonic.shape() {
        Shape::Scalar if mnemonic.allows(Axis::OptionalC) => {
            "register or number, where .op2 or a selector on d uses it".to_owned()
        }
        Shape::Scalar => format!("register or number{negated}"),
        _ => "register; keeps the lanes that are not in the mask, and is what .add adds to; else it is not read"
            .to_owned(),
    };
    vec![
        d,
        source("a", defaults[0]),
        source("b", defaults[1]),
        Operand { name: "c", selectors: String::new(), meaning: c },
    ]
}

/// An instruction that shows what is special about the mnemonic, and on which ptxas's code does what the manual says.
pub fn example(mnemonic: Mnemonic) -> String {
    let rest = match (mnemonic.shape().is_simd(), mnemonic.operation()) {
        (true, Operation::Add | Operation::Sub | Operation::Absdiff) => ".s32.s32.s32.sat d, a, b, c",
        (true, Operation::Set) => ".s32.s32.lt d, a, b, c",
        (true, _) => ".s32.s32.s32 d, a, b, c",
        (false, Operation::Min) => ".s32.s32.s32.max d, a.b0, b.h1, c",
        (false, Operation::Max) => ".s32.s32.s32 d.b0, a.b0, b.h1, c",
        (false, Operation::Shl) => ".u32.u32.u32.clamp.add d, a.h0, b.b0, c",
        (false, Operation::Shr) => ".s32.s32.u32.wrap.add d, a.h1, b.b0, c",
        (false, Operation::Mad) => ".s32.s32.s32.shr7 d, a.h0, b.h1, c",
        (false, Operation::Set) => ".s32.s32.lt.add d, a.b0, b.h1, c",
        (false, _) => ".s32.s32.s32.add d, a.b0, b.h1, c",
    };
    format!("{mnemonic}{rest}")
}

fn read(text: &str) -> Option<(Instruction<'_>, [u32; 3])> {
    let instruction = Parser::new().allow_bare().parse(text).ok()?;
    Some((instruction, instruction.telling_inputs(Semantics::Isa)))
}

/// The page, drawn for a terminal of `width` columns.
pub fn page_within(mnemonic: Mnemonic, width: usize) -> String {
    let row = mnemonic.row();
    let (major, minor) = row.version;
    let title = crate::wrapped(&format!("{}: {}", row.name, row.summary), width);
    let mut text = format!("\x1b[1m{title}\x1b[0m\n\n");
    let syntax = format!("{}{}", row.name, row.syntax);
    let syntax = match 4 + syntax.chars().count() <= width {
        true => syntax,
        false => crate::wrapped(&syntax, width - 8).replace('\n', "\n        "),
    };
    text.push_str(&format!("    {syntax}\n\nModifiers (in braces: may be left out)\n\n"));
    for slot in modifiers(mnemonic) {
        for (i, (spelling, meaning)) in slot.values.iter().enumerate() {
            // A modifier with one spelling that is its name is named once.
            let name = if i == 0 && slot.name != spelling { slot.name } else { "" };
            text.push_str(&entry(name, spelling, meaning, width));
        }
    }
    text.push_str("\nOperands\n\n");
    for operand in operands(mnemonic) {
        text.push_str(&entry(operand.name, &operand.selectors, &operand.meaning, width));
    }
    let example = example(mnemonic);
    if let Some((instruction, [a, b, c])) = read(&example) {
        let trace = instruction.form.explain(a, b, c);
        let drawing = crate::explanation_within(&trace, instruction.operand_values(), width);
        text.push_str(&format!("\nExample\n\n{drawing}"));
    }
    let foot = format!(
        "{} forms, in PTX since .version {major}.{minor} and on targets from sm_{}. `vop explain '{example}' 1 2 3` draws the \
         example with other values.",
        vop::grouped(mnemonic.forms().count_left()),
        row.target
    );
    text.push_str(&format!("\n{}\n", crate::wrapped(&foot, width)));
    text
}

/// Name, spelling and meaning side by side; on narrow terminals the meaning stands below.
fn entry(name: &str, spelling: &str, meaning: &str, width: usize) -> String {
    const NAME: usize = 8;
    const SPELLING: usize = 24;
    let left = format!("  {name:<NAME$}{spelling:<SPELLING$}");
    let indent = 2 + NAME + SPELLING;
    if width < indent + 24 {
        let meaning = crate::wrapped(meaning, width - 6).replace('\n', "\n      ");
        return format!("{}\n      {meaning}\n", left.trim_end());
    }
    let meaning = crate::wrapped(meaning, width - indent).replace('\n', &format!("\n{:indent$}", ""));
    format!("{left}{meaning}\n")
}

/// The page as data.
pub fn data(mnemonic: Mnemonic) -> Value {
    let row = mnemonic.row();
    let (major, minor) = row.version;
    let modifiers = modifiers(mnemonic).into_iter().map(|slot| {
        let values =
            slot.values.into_iter().map(|(spelling, meaning)| json!({ "spelling": spelling, "meaning": meaning }));
        json!({ "name": slot.name, "optional": slot.optional, "values": values.collect::<Vec<_>>() })
    });
    let operands = operands(mnemonic)
        .into_iter()
        .map(|operand| json!({ "name": operand.name, "selectors": operand.selectors, "meaning": operand.meaning }));
    let text = example(mnemonic);
    let example = read(&text).map(|(instruction, [a, b, c])| crate::stages(&instruction.form.explain(a, b, c)));
    json!({
        "mnemonic": row.name,
        "summary": row.summary,
        "syntax": format!("{}{}", row.name, row.syntax),
        "section": row.section,
        "version": format!("{major}.{minor}"),
        "target": format!("sm_{}", row.target),
        "forms": mnemonic.forms().count_left(),
        "modifiers": modifiers.collect::<Vec<_>>(),
        "operands": operands.collect::<Vec<_>>(),
        "example": example,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each example is legal, and no lint reports it.
    #[test]
    fn examples() {
        for mnemonic in Mnemonic::ALL {
            let text = example(mnemonic);
            let parsed = Parser::new().parse_with_places(&text);
            let (instruction, places) = parsed.unwrap_or_else(|faults| panic!("{text}: {faults:?}"));
            assert_eq!(vop::lint(&text, &instruction, &places), [], "{text}");
            assert_eq!(instruction.form.mnemonic(), mnemonic);
        }
    }

    /// The page names what the syntax has, in its order.
    #[test]
    fn modifiers_are_those_of_the_syntax() {
        for mnemonic in Mnemonic::ALL {
            let syntax = mnemonic.row().syntax;
            let opcode = syntax.split(' ').next().unwrap_or_default();
            let written: Vec<&str> = opcode.split(['.', '{', '}']).filter(|word| !word.is_empty()).collect();
            let named: Vec<&str> = modifiers(mnemonic).iter().map(|slot| &slot.name[1..]).collect();
            assert_eq!(named, written, "{mnemonic}");
            for slot in modifiers(mnemonic) {
                assert_eq!(slot.optional, syntax.contains(&format!("{{{}}}", slot.name)), "{mnemonic} {}", slot.name);
            }
        }
    }

    /// Pages fit the terminal, except for words that are longer.
    #[test]
    fn pages_fit() {
        for (mnemonic, width) in
            Mnemonic::ALL.into_iter().flat_map(|mnemonic| [40, 60, 79].map(|width| (mnemonic, width)))
        {
            let page = crate::plain(&page_within(mnemonic, width));
            for line in page.lines() {
                assert!(line.chars().count() <= width || !line.trim().contains(' '), "{mnemonic} at {width}: {line}");
            }
        }
    }
}
