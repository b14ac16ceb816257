//! The values that the axes of an instruction take, each with its spelling.

use core::cmp::Ordering;
use core::fmt;

/// Declares an enum whose variants are modifiers, with the spelling of each (without its dot) in both directions.
macro_rules! modifiers {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $text:literal,)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$doc])* $variant,)*
        }

        impl $name {
            /// All of them, in the manual's order.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The spelling, without the dot.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }

            /// The value with this spelling, without the dot.
            pub fn from_name(name: &str) -> Option<$name> {
                $name::from_bytes(name.as_bytes())
            }

            #[inline]
            pub(crate) fn from_bytes(name: &[u8]) -> Option<$name> {
                $(if name == $text.as_bytes() {
                    return Some($name::$variant);
                })*
                None
            }
        }

        /// The spelling with its dot.
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(".")?;
                f.write_str(self.name())
            }
        }
    };
}

modifiers! {
    /// `.u32` or `.s32`: how an operand's bits are read, or to which range a result saturates.
    Type {
        /// Unsigned.
        U32 = "u32",
        /// Signed, two's complement.
        S32 = "s32",
    }
}

modifiers! {
    /// `.b0` to `.b3`, `.h0`, `.h1`: a byte or half-word of a 32-bit register, 0 the least significant.
    Part {
        /// Bits 0 to 7.
        B0 = "b0",
        /// Bits 8 to 15.
        B1 = "b1",
        /// Bits 16 to 23.
        B2 = "b2",
        /// Bits 24 to 31.
        B3 = "b3",
        /// Bits 0 to 15.
        H0 = "h0",
        /// Bits 16 to 31.
        H1 = "h1",
    }
}

modifiers! {
    /// The scalar secondary operation.
    Secondary {
        /// d = t + c.
        Add = "add",
        /// d = MIN(t, c).
        Min = "min",
        /// d = MAX(t, c).
        Max = "max",
    }
}

modifiers! {
    /// The comparison of `vset`, `vset2` and `vset4`, on the exact values of a and b whatever their types.
    Comparison {
        /// a = b.
        Eq = "eq",
        /// a ≠ b.
        Ne = "ne",
        /// a < b.
        Lt = "lt",
        /// a ≤ b.
        Le = "le",
        /// a > b.
        Gt = "gt",
        /// a ≥ b.
        Ge = "ge",
    }
}

modifiers! {
    /// What `vshl` and `vshr` do with a shift amount above 31.
    ShiftMode {
        /// Amounts above 32 become 32.
        Clamp = "clamp",
        /// The amount's lower five bits count.
        Wrap = "wrap",
    }
}

modifiers! {
    /// The scaling of `vmad`: an arithmetic shift right of the sum.
    Scale {
        /// By 7 bits.
        Shr7 = "shr7",
        /// By 15 bits.
        Shr15 = "shr15",
    }
}

impl Scale {
    /// By how many bits it shifts right.
    pub const fn bits(self) -> u32 {
        match self {
            Scale::Shr7 => 7,
            Scale::Shr15 => 15,
        }
    }
}

/// `.sat`, without its dot.
pub const SAT: &str = "sat";

/// `.po`, without its dot.
pub const PLUS_ONE: &str = "po";

/// The spellings of all modifiers, without their dots.
pub fn modifier_names() -> impl Iterator<Item = &'static str> {
    let types = Type::ALL.iter().map(|ty| ty.name());
    let secondary = Secondary::ALL.iter().map(|secondary| secondary.name());
    let comparisons = Comparison::ALL.iter().map(|comparison| comparison.name());
    let modes = ShiftMode::ALL.iter().map(|mode| mode.name());
    let scales = Scale::ALL.iter().map(|scale| scale.name());
    types.chain([SAT, PLUS_ONE]).chain(secondary).chain(comparisons).chain(modes).chain(scales)
}

/// What an instruction computes on each lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Operation {
    /// a + b.
    Add,
    /// a - b.
    Sub,
    /// (a + b) / 2, rounded half away from zero for a sum of zero or more, down for a negative one.
    Avrg,
    /// |a - b|.
    Absdiff,
    /// The lesser.
    Min,
    /// The greater.
    Max,
    /// a shifted left by b.
    Shl,
    /// a shifted right by b.
    Shr,
    /// a · b + c.
    Mad,
    /// 1 if the comparison holds, else 0.
    Set,
}

/// How a 32-bit register is divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// One value.
    Scalar,
    /// Two half-words, lane 0 the least significant.
    Halves,
    /// Four bytes, lane 0 the least significant.
    Bytes,
}

impl Shape {
    /// The number of lanes.
    pub const fn lanes(self) -> usize {
        match self {
            Shape::Scalar => 1,
            Shape::Halves => 2,
            Shape::Bytes => 4,
        }
    }

    /// The width of a lane in bits.
    pub const fn bits(self) -> u32 {
        32 / self.lanes() as u32
    }

    /// The letter of its selectors and masks: `.h10`, `.b3210`.
    pub const fn letter(self) -> char {
        match self {
            Shape::Scalar | Shape::Bytes => 'b',
            Shape::Halves => 'h',
        }
    }

    /// Whether it has lanes (`vadd2`, `vadd4`) rather than a single value.
    pub const fn is_simd(self) -> bool {
        !matches!(self, Shape::Scalar)
    }
}

impl Comparison {
    /// Whether it holds of two values that are ordered so.
    pub const fn holds(self, ordering: Ordering) -> bool {
        match self {
            Comparison::Eq => ordering.is_eq(),
            Comparison::Ne => ordering.is_ne(),
            Comparison::Lt => ordering.is_lt(),
            Comparison::Le => ordering.is_le(),
            Comparison::Gt => ordering.is_gt(),
            Comparison::Ge => ordering.is_ge(),
        }
    }
}

impl Type {
    /// Whether it is `.s32`.
    pub const fn is_signed(self) -> bool {
        matches!(self, Type::S32)
    }
}

impl Part {
    /// The position of its least significant bit in the register.
    pub const fn shift(self) -> u32 {
        match self {
            Part::B0 | Part::H0 => 0,
            Part::B1 => 8,
            Part::B2 | Part::H1 => 16,
            Part::B3 => 24,
        }
    }

    /// Its width in bits, 8 or 16.
    pub const fn bits(self) -> u32 {
        match self {
            Part::H0 | Part::H1 => 16,
            _ => 8,
        }
    }
}

/// Which part of its operands a source takes.
///
/// In scalar forms a byte, a half-word or the whole word of its own register; in SIMD forms for each lane one of the
/// eight bytes, or four half-words, of a and b together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Selector {
    /// No selector on a scalar operand: all 32 bits.
    Word,
    /// `.b0` to `.h1` on a scalar operand.
    Part(Part),
    /// `.hxy` on an operand of a half-word form. The array is indexed by lane (`.hxy` is `[y, x]`); 0 and 1 are the
    /// half-words of a, 2 and 3 those of b.
    Halves([u8; 2]),
    /// `.bxyzw` on an operand of a byte form. The array is indexed by lane (`.bxyzw` is `[w, z, y, x]`); 0 to 3 are
    /// the bytes of a, 4 to 7 those of b.
    Bytes([u8; 4]),
}

impl Selector {
    /// What a or b (`second`) has where no selector is written: the word, or the operand's own lanes in order.
    pub const fn default_for(shape: Shape, second: bool) -> Selector {
        match (shape, second) {
            (Shape::Scalar, _) => Selector::Word,
            (Shape::Halves, false) => Selector::Halves([0, 1]),
            (Shape::Halves, true) => Selector::Halves([2, 3]),
            (Shape::Bytes, false) => Selector::Bytes([0, 1, 2, 3]),
            (Shape::Bytes, true) => Selector::Bytes([4, 5, 6, 7]),
        }
    }

    /// A SIMD selector with a's lanes where it has b's, and b's where it has a's; a scalar one as it is.
    #[must_use]
    pub fn of_other_register(self) -> Selector {
        match self {
            Selector::Word | Selector::Part(_) => self,
            Selector::Halves(lanes) => Selector::Halves(lanes.map(|lane| lane ^ 2)),
            Selector::Bytes(lanes) => Selector::Bytes(lanes.map(|lane| lane ^ 4)),
        }
    }

    /// Of a scalar operand: the position of the part's least significant bit, and its width.
    pub const fn place(self) -> (u32, u32) {
        match self {
            Selector::Part(part) => (part.shift(), part.bits()),
            _ => (0, 32),
        }
    }

    /// Two bytes that hold it, given the shape it belongs to.
    pub(crate) const fn pack(self) -> u16 {
        match self {
            Selector::Word => 0,
            Selector::Part(part) => 1 + part as u16,
            Selector::Halves([y, x]) => y as u16 | (x as u16) << 4,
            Selector::Bytes([w, z, y, x]) => w as u16 | (z as u16) << 4 | (y as u16) << 8 | (x as u16) << 12,
        }
    }

    pub(crate) const fn unpack(packed: u16, shape: Shape) -> Selector {
        match shape {
            Shape::Scalar if packed == 0 => Selector::Word,
            Shape::Scalar => Selector::Part(Part::ALL[packed as usize - 1]),
            Shape::Halves => Selector::Halves([packed as u8 & 3, (packed >> 4) as u8 & 3]),
            Shape::Bytes => Selector::Bytes([
                packed as u8 & 7,
                (packed >> 4) as u8 & 7,
                (packed >> 8) as u8 & 7,
                (packed >> 12) as u8 & 7,
            ]),
        }
    }
}

impl Selector {
    /// Where a packed scalar selector's part begins, and how wide it is.
    #[inline(always)]
    pub(crate) const fn part(packed: u16) -> (u32, u32) {
        const PLACES: [(u8, u8); 8] = {
            let mut places = [(0, 32); 8];
            let mut i = 0;
            while i < Part::ALL.len() {
                let part = Part::ALL[i];
                places[Selector::Part(part).pack() as usize] = (part.shift() as u8, part.bits() as u8);
                i += 1;
            }
            places
        };
        let (shift, bits) = PLACES[packed as usize & 7];
        (shift as u32, bits as u32)
    }

    /// The lane, of a and b together, that a packed SIMD selector takes for lane `i`.
    #[inline(always)]
    pub(crate) const fn lane(packed: u16, shape: Shape, i: usize) -> u32 {
        (packed >> (4 * i)) as u32 & (2 * shape.lanes() as u32 - 1)
    }
}

/// The spelling with its dot; nothing for [`Selector::Word`].
impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Selector::Word => Ok(()),
            Selector::Part(part) => part.fmt(f),
            Selector::Halves([y, x]) => write!(f, ".h{x}{y}"),
            Selector::Bytes([w, z, y, x]) => write!(f, ".b{x}{y}{z}{w}"),
        }
    }
}

/// The lanes of a SIMD destination that the instruction writes or accumulates: a bit each, bit 0 for lane 0; never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Mask(u8);

impl Mask {
    /// The mask with these bits, for a shape of two or four lanes; `None` for no lane, a lane too many or a scalar shape.
    pub const fn new(bits: u8, shape: Shape) -> Option<Mask> {
        if shape.is_simd() && bits != 0 && bits < 1 << shape.lanes() { Some(Mask(bits)) } else { None }
    }

    /// All lanes: what a destination without a mask means.
    pub const fn full(shape: Shape) -> Mask {
        Mask((1 << shape.lanes()) - 1)
    }

    /// The bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// All bits of the lanes in it, for the shape it was made for.
    #[inline]
    pub(crate) const fn word(self, shape: Shape) -> u32 {
        let lanes = self.0 as u32;
        match shape {
            // Each bit is spread to its lane's lowest, then over the lane.
            Shape::Bytes => ((lanes * 0x0020_4081) & 0x0101_0101) * 0xff,
            _ => ((lanes * 0x8001) & 0x0001_0001) * 0xffff,
        }
    }

    /// Whether lane `i` is in it.
    pub const fn has(self, i: usize) -> bool {
        self.0 >> i & 1 != 0
    }
}
