//! Texts of instructions, legal and mutated, for `accept.tsv`.

use vop_tests::Random;

use super::values::random_forms;

/// Modifiers of video instructions and of others, and some that no instruction has.
const MODIFIERS: [&str; 30] = [
    "u32", "s32", "u16", "s16", "u8", "s8", "b32", "f32", "u64", "s64", "sat", "add", "min", "max", "po", "shr7",
    "shr15", "shr8", "clamp", "wrap", "eq", "ne", "lt", "le", "gt", "ge", "lo", "hi", "relu", "mrg",
];

/// Selectors of every width, some of them of no operand.
const SELECTORS: [&str; 24] = [
    "b0", "b1", "b2", "b3", "b4", "h0", "h1", "h2", "w0", "h10", "h01", "h32", "h00", "h40", "b3210", "b7654", "b10",
    "b01", "b00", "b321", "b8888", "b76543", "x", "B0",
];

/// Registers of `golden::REGISTERS`, other operands, and some that are none.
const OPERANDS: [&str; 22] = [
    "a",
    "b",
    "c",
    "d",
    "u",
    "s",
    "f",
    "h",
    "w",
    "p",
    "1",
    "0",
    "-1",
    "255",
    "0x80000000",
    "4294967296",
    "1.5",
    "_",
    "%tid.x",
    "a+4",
    "WARP_SZ",
    "undeclared",
];

/// Names of instructions, most of them of no video instruction.
const MNEMONICS: [&str; 10] = ["vadd", "vadd2", "vadd4", "vset", "vmad", "vshl", "vadd8", "vavrg", "varvg2", "add"];

/// A text in parts that can be changed one by one.
#[derive(Clone)]
struct Text {
    guard: &'static str,
    mnemonic: String,
    modifiers: Vec<String>,
    operands: Vec<Operand>,
    /// What stands between operands, and behind the opcode.
    comma: &'static str,
    gap: &'static str,
}

#[derive(Clone)]
struct Operand {
    minus: bool,
    name: String,
    selector: Option<String>,
}

impl Text {
    /// The parts of the canonical text of a form.
    fn of(form: &str) -> Text {
        let (opcode, operands) = form.split_once(' ').unwrap_or((form, ""));
        let mut words = opcode.split('.').map(str::to_owned);
        let operand = |text: &str| {
            let rest = text.strip_prefix('-').unwrap_or(text);
            let (name, selector) =
                rest.split_once('.').map_or((rest, None), |(name, part)| (name, Some(part.to_owned())));
            Operand { minus: rest.len() < text.len(), name: name.to_owned(), selector }
        };
        Text {
            guard: "",
            mnemonic: words.next().unwrap_or_default(),
            modifiers: words.collect(),
            operands: operands.split(", ").map(operand).collect(),
            comma: ", ",
            gap: " ",
        }
    }

    fn mutate(&mut self, random: &mut Random) {
        let modifier = random.below(self.modifiers.len());
        let operand = random.below(self.operands.len());
        match random.below(17) {
            0 => self.mnemonic = random.pick(&MNEMONICS).to_owned(),
            1 if !self.modifiers.is_empty() => drop(self.modifiers.remove(modifier)),
            2 | 3 => self.modifiers.insert(modifier, random.pick(&MODIFIERS).to_owned()),
            4 | 5 if !self.modifiers.is_empty() => self.modifiers[modifier] = random.pick(&MODIFIERS).to_owned(),
            6 if self.modifiers.len() > 1 => self.modifiers.swap(modifier, (modifier + 1) % 2),
            7 if !self.modifiers.is_empty() => {
                let twice = self.modifiers[modifier].clone();
                self.modifiers.insert(random.below(self.modifiers.len()), twice);
            }
            8 if self.operands.len() > 1 => drop(self.operands.remove(operand)),
            9 => self.operands.extend(self.operands.get(operand).cloned()),
            10 | 11 => self.operands[operand].name = random.pick(&OPERANDS).to_owned(),
            12 => self.operands[operand].minus ^= true,
            13 | 14 => self.operands[operand].selector = Some(random.pick(&SELECTORS).to_owned()),
            15 => self.operands[operand].selector = None,
            _ => match random.below(4) {
                0 => self.comma = random.pick(&[" ", ",,", " , ", ","]),
                1 => self.gap = random.pick(&["", "  ", "."]),
                _ => self.guard = random.pick(&["@p ", "@!p ", "@a ", "@ p ", "p "]),
            },
        }
    }
}

impl std::fmt::Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.guard, self.mnemonic)?;
        self.modifiers.iter().try_for_each(|modifier| write!(f, ".{modifier}"))?;
        f.write_str(self.gap)?;
        for (i, Operand { minus, name, selector }) in self.operands.iter().enumerate() {
            let comma = if i == 0 { "" } else { self.comma };
            write!(f, "{comma}{}{name}", if *minus { "-" } else { "" })?;
            selector.iter().try_for_each(|selector| write!(f, ".{selector}"))?;
        }
        Ok(())
    }
}

/// `count` texts. A third are legal forms, perhaps with a guard, a third have one mutation, a third have two.
pub(super) fn texts(random: &mut Random, count: usize) -> Vec<String> {
    let forms = random_forms(random, count);
    let text = |(i, form): (usize, &String)| {
        let mut text = Text::of(form);
        text.guard = random.pick(&["", "", "", "@p ", "@!p "]);
        (0..i % 3).for_each(|_| text.mutate(random));
        text.to_string()
    };
    forms.iter().enumerate().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_is_its_parts() {
        for form in random_forms(&mut Random::of(1), 500) {
            assert_eq!(Text::of(&form).to_string(), form);
        }
    }

    #[test]
    fn equal_seeds_give_equal_texts_of_both_kinds() {
        let of = |seed| texts(&mut Random::of(seed), 300);
        assert_eq!(of(5), of(5));
        assert_ne!(of(5), of(6));
        let legal = of(5).iter().filter(|text| super::super::texts::library_verdict(text) == "OK").count();
        assert!((100..200).contains(&legal), "{legal} of 300 are legal");
    }
}
