//! What an instruction costs: how many machine instructions NVIDIA's ptxas 13.5 spends on it.
//!
//! A cost is the size of a kernel that loads a, b and c, computes d with the one instruction and stores it, less the size
//! of the same kernel with `mov.b32 d, a` in its place. It was measured at ptxas's default optimization, with operands that
//! are different registers. In another kernel it may differ: ptxas shares work between neighbours, and treats immediates
//! otherwise.
//!
//! No more than this decides a cost, and [`Entry`] is where it is written down:
//!
//! - **Scalar forms**: the opcode; whether the instruction merges a part into c; whether the product or c of `vmad` is
//!   negated; and whether a and whether b is a part of its register. Which part does not matter, nor whether a byte or a
//!   half-word.
//! - **Byte forms** (`vadd4` …): the opcode. Selectors matter little, as ptxas always gathers the bytes of both sources
//!   first, a `PRMT` each; where both select the same bytes it sees that the sources are one, and on a few opcodes it knows
//!   a sequence for default selectors and all lanes. The mask matters with `.add` alone, by the number of its lanes.
//! - **Half-word forms** (`vadd2` …): as byte forms, except that each mask is a case of its own, and except for the
//!   selectors: it also matters from which register, a or b, the lower lane of each source comes.
//!
//! Targets without a column in the table have the costs of another: [`Target::measured`]. The suffixes `a` and `f` change
//! nothing, nor do `.version` and `.target` in the file.
//!
//! The table is `table.tsv` beside this file. `cargo xtask sass cost-table` measures and writes it, and refuses to where
//! forms of one place have different costs.

use alloc::string::{String, ToString};
use core::cmp::Ordering;

use crate::isa::form::{Finish, Form, Variant};
use crate::isa::types::{Mask, Selector, Shape};
use crate::target::Target;

/// A heading, then rows in ascending order: the name of the row, and for each target numbers with spaces between them.
const TABLE: &str = include_str!("table.tsv");

impl Form {
    /// How many machine instructions ptxas 13.5 spends on the instruction; see [the module](crate::cost) for what is
    /// counted.
    ///
    /// ```
    /// use vop::{Form, Target};
    /// let form: Form = "vabsdiff4.u32.u32.u32.add".parse().unwrap();
    /// let [old, new]: [Target; 2] = ["sm_90", "sm_120"].map(|name| name.parse().unwrap());
    /// assert_eq!((form.cost(old), form.cost(new)), (1, 6));
    /// ```
    pub fn cost(self, target: Target) -> u32 {
        Entry::of(self).cost(target).expect("the table has a row for every form: a test asks for each")
    }
}

/// Where a form's cost stands in the table: forms with the same place have the same cost.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Entry {
    /// The name of the row: the opcode and, as a form's text would have it, what of masks and signs matters.
    pub row: String,
    /// Which number in each of the row's cells; the selectors decide.
    pub number: usize,
}

impl Entry {
    /// The place of a form.
    pub fn of(form: Form) -> Entry {
        let mut row = form.opcode().to_string();
        row.push_str(match (form.finish(), form.variant()) {
            (Finish::Merge(_), _) => " d.b0",
            (_, Variant::Mad(mode, _)) if mode.negates_product() => " -a",
            (_, Variant::Mad(mode, _)) if mode.negates_c() => " -c",
            (finish @ (Finish::Lanes(mask) | Finish::Accumulate(mask)), _) => {
                match (form.mnemonic().shape(), mask.bits()) {
                    (Shape::Halves, 0b01) => " d.h0",
                    (Shape::Halves, 0b10) => " d.h1",
                    (Shape::Bytes, bits) if matches!(finish, Finish::Accumulate(_)) => match bits.count_ones() {
                        1 => " d.b0",
                        2 => " d.b10",
                        3 => " d.b210",
                        _ => "",
                    },
                    _ => "",
                }
            }
            _ => "",
        });
        Entry { row, number: number(form) }
    }

    /// The number that stands there.
    fn cost(&self, target: Target) -> Option<u32> {
        // A cell that is empty or missing says the same as the one before it.
        let cells = line(&self.row)?.split('\t').skip(1).take(target.column() + 1);
        let cell = cells.filter(|cell| !cell.is_empty()).last()?;
        cell.split(' ').nth(self.number)?.parse().ok()
    }
}

/// Which number of a cell.
fn number(form: Form) -> usize {
    let shape = form.mnemonic().shape();
    let (a, b) = (form.asel(), form.bsel());
    let is_default = a == Selector::default_for(shape, false) && b == Selector::default_for(shape, true);
    let is_whole = is_default && form.mask() == Some(Mask::full(shape));
    match (a, b) {
        // Whose half-word is the lower lane of a, and of b (a a, a b, b a, b b); the same where both sources are equal
        // (a, b); default selectors and all lanes.
        (Selector::Halves([lane_of_a, _]), Selector::Halves([lane_of_b, _])) => match [lane_of_a / 2, lane_of_b / 2] {
            _ if is_whole => 6,
            [register, _] if a == b => 4 + usize::from(register),
            [register_of_a, register_of_b] => usize::from(2 * register_of_a + register_of_b),
        },
        // Any; both sources equal; default selectors and all lanes.
        (Selector::Bytes(_), Selector::Bytes(_)) => match a == b {
            _ if is_whole => 2,
            equal => usize::from(equal),
        },
        // Both whole; b a part; a a part; both parts.
        _ => 2 * usize::from(a != Selector::Word) + usize::from(b != Selector::Word),
    }
}

/// The line of the table with this first field.
fn line(row: &str) -> Option<&'static str> {
    const { assert!(TABLE.is_ascii()) }
    // Both ends are always where a line begins.
    let (mut low, mut high) = (0, TABLE.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let start = TABLE[..middle].rfind('\n').map_or(0, |newline| newline + 1);
        let end = TABLE[middle..].find('\n').map_or(TABLE.len(), |newline| middle + newline);
        let line = &TABLE[start..end];
        match line.split('\t').next().unwrap_or_default().cmp(row) {
            Ordering::Less => low = end + 1,
            Ordering::Equal => return Some(line),
            Ordering::Greater => high = start,
        }
    }
    None
}
