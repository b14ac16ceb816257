//! The table: one row a mnemonic, in the manual's notation.
//!
//! Everything else follows from it: what the parser takes, what [`Form`](crate::Form) refuses, which forms there are,
//! what `vop list` prints. The syntax column is the manual's own (PTX ISA 9.7.18), read at compile time by
//! [`Mnemonic::allows`]: where it says `{.sat}` the instruction may saturate, and nowhere else.

use super::types::{Operation, Shape};

/// One row of the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row {
    /// The mnemonic as it is written, `vadd4`.
    pub name: &'static str,
    /// What it computes on each lane.
    pub operation: Operation,
    /// How many lanes it has, of what width.
    pub shape: Shape,
    /// The manual's syntax. Braces enclose what may be left out; `.op2` is `.add`, `.min` or `.max`.
    pub syntax: &'static str,
    /// What it does, in the manual's words.
    pub summary: &'static str,
    /// The section of the PTX ISA manual that defines it.
    pub section: &'static str,
    /// The PTX ISA version that introduced it, major and minor (the manual's "PTX ISA Notes").
    pub version: (u32, u32),
    /// The lowest target that has it, as the number in `sm_20` (the manual's "Target ISA Notes").
    pub target: u32,
}

macro_rules! table {
    ($($mnemonic:ident $name:literal $operation:ident $shape:ident $syntax:literal $summary:literal $section:literal $version:tt $target:literal;)*) => {
        /// A mnemonic: one of the 23 rows of the [table](self).
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Mnemonic {
            $(#[doc = concat!("`", $name, "`: ", $summary, ", PTX ISA ", $section, ".")] $mnemonic,)*
        }

        const COUNT: usize = [$($name),*].len();

        impl Mnemonic {
            /// All of them, in the manual's order.
            pub const ALL: [Mnemonic; COUNT] = [$(Mnemonic::$mnemonic),*];

            const ROWS: [Row; COUNT] = [$(Row {
                name: $name,
                operation: Operation::$operation,
                shape: Shape::$shape,
                syntax: $syntax,
                summary: $summary,
                section: $section,
                version: $version,
                target: $target,
            }),*];

            const AXES: [AxisSet; COUNT] = [$(axes($syntax)),*];

            /// The mnemonic that is written so, exactly (PTX is case-sensitive).
            pub fn from_name(name: &str) -> Option<Mnemonic> {
                match name {
                    $($name => Some(Mnemonic::$mnemonic),)*
                    _ => None,
                }
            }
        }
    };
}

table! {
// mnemonic  name        operation shape   syntax                                                                                         summary                                        section      version target
    Vadd      "vadd"      Add      Scalar ".dtype.atype.btype{.sat}{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}"              "byte, half-word or word addition"                      "9.7.18.1.1" (2, 0) 20;
    Vsub      "vsub"      Sub      Scalar ".dtype.atype.btype{.sat}{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}"              "byte, half-word or word subtraction"                   "9.7.18.1.1" (2, 0) 20;
    Vabsdiff  "vabsdiff"  Absdiff  Scalar ".dtype.atype.btype{.sat}{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}"              "byte, half-word or word absolute value of difference"  "9.7.18.1.1" (2, 0) 20;
    Vmin      "vmin"      Min      Scalar ".dtype.atype.btype{.sat}{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}"              "byte, half-word or word minimum"                       "9.7.18.1.1" (2, 0) 20;
    Vmax      "vmax"      Max      Scalar ".dtype.atype.btype{.sat}{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}"              "byte, half-word or word maximum"                       "9.7.18.1.1" (2, 0) 20;
    Vshl      "vshl"      Shl      Scalar ".dtype.atype.u32{.sat}.mode{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}"           "byte, half-word or word left shift"                    "9.7.18.1.2" (2, 0) 20;
    Vshr      "vshr"      Shr      Scalar ".dtype.atype.u32{.sat}.mode{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}"           "byte, half-word or word right shift"                   "9.7.18.1.2" (2, 0) 20;
    Vmad      "vmad"      Mad      Scalar ".dtype.atype.btype{.po}{.sat}{.scale} d, {-}a{.asel}, {-}b{.bsel}, {-}c"       "byte, half-word or word multiply-accumulate"           "9.7.18.1.3" (2, 0) 20;
    Vset      "vset"      Set      Scalar ".atype.btype.cmp{.op2} d{.dsel}, a{.asel}, b{.bsel}{, c}"                      "byte, half-word or word comparison"                    "9.7.18.1.4" (2, 0) 20;
    Vadd2     "vadd2"     Add      Halves ".dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c"                "dual half-word SIMD addition"                          "9.7.18.2.1" (3, 0) 30;
    Vsub2     "vsub2"     Sub      Halves ".dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c"                "dual half-word SIMD subtraction"                       "9.7.18.2.1" (3, 0) 30;
    Vavrg2    "vavrg2"    Avrg     Halves ".dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c"                "dual half-word SIMD average"                           "9.7.18.2.1" (3, 0) 30;
    Vabsdiff2 "vabsdiff2" Absdiff  Halves ".dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c"                "dual half-word SIMD absolute value of difference"      "9.7.18.2.1" (3, 0) 30;
    Vmin2     "vmin2"     Min      Halves ".dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c"                "dual half-word SIMD minimum"                           "9.7.18.2.1" (3, 0) 30;
    Vmax2     "vmax2"     Max      Halves ".dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c"                "dual half-word SIMD maximum"                           "9.7.18.2.1" (3, 0) 30;
    Vset2     "vset2"     Set      Halves ".atype.btype.cmp{.add} d{.mask}, a{.asel}, b{.bsel}, c"                        "dual half-word SIMD comparison"                        "9.7.18.2.2" (3, 0) 30;
    Vadd4     "vadd4"     Add      Bytes  ".dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c"                "quad byte SIMD addition"                               "9.7.18.2.3" (3, 0) 30;
    Vsub4     "vsub4"     Sub      Bytes  ".dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c"                "quad byte SIMD subtraction"                            "9.7.18.2.3" (3, 0) 30;
    Vavrg4    "vavrg4"    Avrg     Bytes  ".dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c"                "quad byte SIMD average"                                "9.7.18.2.3" (3, 0) 30;
    Vabsdiff4 "vabsdiff4" Absdiff  Bytes  ".dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c"                "quad byte SIMD absolute value of difference"           "9.7.18.2.3" (3, 0) 30;
    Vmin4     "vmin4"     Min      Bytes  ".dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c"                "quad byte SIMD minimum"                                "9.7.18.2.3" (3, 0) 30;
    Vmax4     "vmax4"     Max      Bytes  ".dtype.atype.btype{.sat}{.add} d{.mask}, a{.asel}, b{.bsel}, c"                "quad byte SIMD maximum"                                "9.7.18.2.3" (3, 0) 30;
    Vset4     "vset4"     Set      Bytes  ".atype.btype.cmp{.add} d{.mask}, a{.asel}, b{.bsel}, c"                        "quad byte SIMD comparison"                             "9.7.18.2.4" (3, 0) 30;
}

/// A thing that some instructions have and others lack; the name is its marker in the syntax column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Axis {
    /// `.dtype`: the type of the result.
    Dtype,
    /// `.btype`: the type of b; where the syntax says `.u32` in its place, no other is legal.
    Btype,
    /// `{.sat}`: clamp to the range of the destination.
    Sat,
    /// `{.op2}`: the scalar secondary operation, `.add`, `.min` or `.max`.
    Secondary,
    /// `{.add}`: the SIMD accumulation.
    Accumulate,
    /// `.cmp`: the comparison, always given.
    Comparison,
    /// `.mode`: `.clamp` or `.wrap`, always given.
    ShiftMode,
    /// `{.scale}`: `.shr7` or `.shr15`.
    Scale,
    /// `{.po}`: plus one.
    PlusOne,
    /// `{-}`: operands may be negated.
    Negation,
    /// `{.dsel}`: the scalar merge into a part of c.
    Merge,
    /// `{.mask}`: the SIMD merge of some lanes into c.
    Mask,
    /// `{, c}`: c is left out unless something uses it.
    OptionalC,
}

impl Axis {
    const ALL: [Axis; 13] = [
        Axis::Dtype,
        Axis::Btype,
        Axis::Sat,
        Axis::Secondary,
        Axis::Accumulate,
        Axis::Comparison,
        Axis::ShiftMode,
        Axis::Scale,
        Axis::PlusOne,
        Axis::Negation,
        Axis::Merge,
        Axis::Mask,
        Axis::OptionalC,
    ];

    /// The marker in the syntax column.
    pub const fn marker(self) -> &'static str {
        match self {
            Axis::Dtype => ".dtype",
            Axis::Btype => ".btype",
            Axis::Sat => "{.sat}",
            Axis::Secondary => "{.op2}",
            Axis::Accumulate => "{.add}",
            Axis::Comparison => ".cmp",
            Axis::ShiftMode => ".mode",
            Axis::Scale => "{.scale}",
            Axis::PlusOne => "{.po}",
            Axis::Negation => "{-}",
            Axis::Merge => "{.dsel}",
            Axis::Mask => "{.mask}",
            Axis::OptionalC => "{, c}",
        }
    }
}

/// A set of axes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AxisSet(u32);

impl AxisSet {
    pub(crate) const EMPTY: AxisSet = AxisSet(0);
    /// What must be given where the syntax has it.
    pub(crate) const REQUIRED: AxisSet = AxisSet::EMPTY.with(Axis::Comparison, true).with(Axis::ShiftMode, true);

    /// Adds an axis on a condition.
    pub(crate) const fn with(self, axis: Axis, condition: bool) -> AxisSet {
        AxisSet(self.0 | (condition as u32) << axis as u32)
    }

    pub(crate) const fn and(self, other: AxisSet) -> AxisSet {
        AxisSet(self.0 & other.0)
    }

    pub(crate) const fn without(self, other: AxisSet) -> AxisSet {
        AxisSet(self.0 & !other.0)
    }

    pub(crate) const fn has(self, axis: Axis) -> bool {
        self.0 & (1 << axis as u32) != 0
    }

    pub(crate) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn iter(self) -> impl Iterator<Item = Axis> {
        Axis::ALL.into_iter().filter(move |&axis| self.has(axis))
    }
}

/// The axes whose markers a syntax holds.
const fn axes(syntax: &str) -> AxisSet {
    let mut set = AxisSet::EMPTY;
    let mut i = 0;
    while i < Axis::ALL.len() {
        set = set.with(Axis::ALL[i], contains(syntax.as_bytes(), Axis::ALL[i].marker().as_bytes()));
        i += 1;
    }
    set
}

const fn contains(text: &[u8], part: &[u8]) -> bool {
    let mut start = 0;
    while start + part.len() <= text.len() {
        let mut i = 0;
        while i < part.len() && text[start + i] == part[i] {
            i += 1;
        }
        if i == part.len() {
            return true;
        }
        start += 1;
    }
    false
}

impl Mnemonic {
    /// Its row of the table.
    pub const fn row(self) -> &'static Row {
        &Self::ROWS[self as usize]
    }

    /// As it is written: `vadd4`.
    pub const fn name(self) -> &'static str {
        self.row().name
    }

    /// What it computes on each lane.
    pub const fn operation(self) -> Operation {
        self.row().operation
    }

    /// Its lanes.
    pub const fn shape(self) -> Shape {
        self.row().shape
    }

    /// Whether the syntax has this axis.
    pub const fn allows(self, axis: Axis) -> bool {
        self.axes().has(axis)
    }

    /// All that its syntax has.
    pub(crate) const fn axes(self) -> AxisSet {
        Self::AXES[self as usize]
    }

    /// How many types follow the mnemonic: two for `vset`, `vset2` and `vset4`, else three.
    pub const fn types(self) -> usize {
        if self.allows(Axis::Dtype) { 3 } else { 2 }
    }
}

impl core::fmt::Display for Mnemonic {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}
