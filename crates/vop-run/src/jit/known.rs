//! Which instructions have a template: what they compute is in `pure/`, as that of all others.

use crate::opcode::Opcode;

/// An instruction that the templates can write as machine code. Words and doubles are columns' elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Known {
    /// None of these: blocks execute its loop.
    No,
    Move,
    MoveDouble,
    MovePredicate,
    // Integers of 32 bits.
    Add,
    Subtract,
    Multiply,
    MultiplyAdd,
    And,
    Or,
    Xor,
    Not,
    ShiftLeft,
    ShiftRight,
    ShiftRightSigned,
    Least,
    Greatest,
    LeastSigned,
    GreatestSigned,
    Negate,
    Absolute,
    /// The high words of products.
    High {
        signed: bool,
    },
    /// `prmt`; the selectors are a constant, and replicate no signs.
    Permute,
    /// `bfe`; the start and the length are constants.
    Field {
        signed: bool,
    },
    /// `bfi`; likewise.
    Insert,
    /// The table is a constant.
    Table,
    /// `shf.wrap`.
    FunnelLeft,
    FunnelRight,
    /// The low 8 or 16 bits.
    Low8,
    Low16,
    // Integers of 64 bits.
    AddDouble,
    SubtractDouble,
    MultiplyDouble,
    MultiplyAddDouble,
    AndDouble,
    OrDouble,
    XorDouble,
    NotDouble,
    /// The distance is a constant.
    ShiftLeftDouble,
    ShiftRightDouble,
    // From 32 bits to 64, and back.
    Wide {
        signed: bool,
    },
    WideAdd {
        signed: bool,
    },
    Extend {
        signed: bool,
    },
    Low,
    // Floats.
    AddFloat,
    SubtractFloat,
    MultiplyFloat,
    FusedFloat,
    NegateFloat,
    AbsoluteFloat,
    LeastFloat,
    GreatestFloat,
    ReciprocalRoot,
    /// Of integers of 32 bits.
    ToFloat {
        signed: bool,
    },
    AddFloatDouble,
    SubtractFloatDouble,
    MultiplyFloatDouble,
    FusedFloatDouble,
    NegateFloatDouble,
    // Predicates.
    Compare(Relation, Compared),
    SelectWord,
    SelectDouble,
    AndPredicate,
    OrPredicate,
    XorPredicate,
    NotPredicate,
}

impl Known {
    /// Whether it computes a predicate from predicates.
    pub(crate) fn is_of_predicates(self) -> bool {
        use Known::*;
        matches!(self, MovePredicate | AndPredicate | OrPredicate | XorPredicate | NotPredicate)
    }

    /// Whether it computes with floats of single precision, which instructions of old targets flush without saying so.
    pub(crate) fn is_single(self) -> bool {
        use Known::*;
        match self {
            AddFloat
            | SubtractFloat
            | MultiplyFloat
            | FusedFloat
            | NegateFloat
            | AbsoluteFloat
            | LeastFloat
            | GreatestFloat
            | ReciprocalRoot
            | ToFloat { .. } => true,
            Compare(_, what) => what == Compared::Float,
            _ => false,
        }
    }
}

/// What is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compared {
    /// The low 16 bits of words.
    Short {
        signed: bool,
    },
    Word {
        signed: bool,
    },
    Double {
        signed: bool,
    },
    Float,
    FloatDouble,
}

impl Compared {
    pub(crate) fn is_float(self) -> bool {
        matches!(self, Compared::Float | Compared::FloatDouble)
    }
}

/// How it is compared; the last ones hold of floats, if one is a NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Relation {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    EqualOrNan,
    NotEqualOrNan,
    LessOrNan,
    LessOrEqualOrNan,
    GreaterOrNan,
    GreaterOrEqualOrNan,
    Numbers,
    Nan,
}

/// The template of an opcode. The modifiers must be exactly these, in any order that the instruction allows.
pub(crate) fn known(opcode: &Opcode<'_>) -> Known {
    use Known::*;
    let word = |ty: &str| matches!(ty, "b32" | "u32" | "s32");
    let double = |ty: &str| matches!(ty, "b64" | "u64" | "s64");
    match (opcode.name, opcode.modifiers()) {
        ("mov", [ty]) if word(ty) || *ty == "f32" => Move,
        ("mov", [ty]) if double(ty) || *ty == "f64" => MoveDouble,
        ("mov", ["pred"]) => MovePredicate,
        ("add", [ty]) if word(ty) => Add,
        ("sub", [ty]) if word(ty) => Subtract,
        ("mul", ["lo", ty]) if word(ty) => Multiply,
        ("mad", ["lo", ty]) if word(ty) => MultiplyAdd,
        ("and", ["b32"]) => And,
        ("or", ["b32"]) => Or,
        ("xor", ["b32"]) => Xor,
        ("not", ["b32"]) => Not,
        ("shl", ["b32"]) => ShiftLeft,
        ("shr", ["b32" | "u32"]) => ShiftRight,
        ("shr", ["s32"]) => ShiftRightSigned,
        ("min", ["u32"]) => Least,
        ("max", ["u32"]) => Greatest,
        ("min", ["s32"]) => LeastSigned,
        ("max", ["s32"]) => GreatestSigned,
        ("neg", ["s32"]) => Negate,
        ("abs", ["s32"]) => Absolute,
        ("mul", ["hi", ty @ ("s32" | "u32")]) => High { signed: *ty == "s32" },
        ("prmt", ["b32"]) => Permute,
        ("bfe", [ty @ ("s32" | "u32")]) => Field { signed: *ty == "s32" },
        ("bfi", ["b32"]) => Insert,
        ("lop3", ["b32"]) => Table,
        ("shf", ["l", "wrap", "b32"]) => FunnelLeft,
        ("shf", ["r", "wrap", "b32"]) => FunnelRight,
        ("cvt", ["u32", "u8"] | ["u16", "u8"]) => Low8,
        ("cvt", ["u32", "u16"] | ["u16", "u32"]) => Low16,
        ("add", [ty]) if double(ty) => AddDouble,
        ("sub", [ty]) if double(ty) => SubtractDouble,
        ("mul", ["lo", ty]) if double(ty) => MultiplyDouble,
        ("mad", ["lo", ty]) if double(ty) => MultiplyAddDouble,
        ("and", ["b64"]) => AndDouble,
        ("or", ["b64"]) => OrDouble,
        ("xor", ["b64"]) => XorDouble,
        ("not", ["b64"]) => NotDouble,
        ("shl", ["b64"]) => ShiftLeftDouble,
        ("shr", ["b64" | "u64"]) => ShiftRightDouble,
        ("mul", ["wide", ty @ ("s32" | "u32")]) => Wide { signed: *ty == "s32" },
        ("mad", ["wide", ty @ ("s32" | "u32")]) => WideAdd { signed: *ty == "s32" },
        ("cvt", [to, from]) if double(to) && word(from) => Extend { signed: *from == "s32" },
        ("cvt", [to, from]) if word(to) && double(from) => Low,
        ("add", ["f32"] | ["rn", "f32"]) => AddFloat,
        ("sub", ["f32"] | ["rn", "f32"]) => SubtractFloat,
        ("mul", ["f32"] | ["rn", "f32"]) => MultiplyFloat,
        ("fma", ["rn", "f32"]) => FusedFloat,
        ("neg", ["f32"]) => NegateFloat,
        ("abs", ["f32"]) => AbsoluteFloat,
        ("min", ["f32"]) => LeastFloat,
        ("max", ["f32"]) => GreatestFloat,
        ("rsqrt", ["approx", "f32"]) => ReciprocalRoot,
        ("cvt", ["rn", "f32", ty @ ("s32" | "u32")]) => ToFloat { signed: *ty == "s32" },
        ("add", ["f64"] | ["rn", "f64"]) => AddFloatDouble,
        ("sub", ["f64"] | ["rn", "f64"]) => SubtractFloatDouble,
        ("mul", ["f64"] | ["rn", "f64"]) => MultiplyFloatDouble,
        ("fma", ["rn", "f64"]) => FusedFloatDouble,
        ("neg", ["f64"]) => NegateFloatDouble,
        ("setp", [operator, ty]) => comparison(operator, ty).map_or(No, |(relation, what)| Compare(relation, what)),
        ("selp", [ty]) if word(ty) || *ty == "f32" => SelectWord,
        ("selp", [ty]) if double(ty) || *ty == "f64" => SelectDouble,
        ("and", ["pred"]) => AndPredicate,
        ("or", ["pred"]) => OrPredicate,
        ("xor", ["pred"]) => XorPredicate,
        ("not", ["pred"]) => NotPredicate,
        _ => No,
    }
}

fn comparison(operator: &str, ty: &str) -> Option<(Relation, Compared)> {
    use Relation::*;
    let signed = ty.starts_with('s');
    let what = match ty {
        "b16" | "u16" | "s16" => Compared::Short { signed },
        "b32" | "u32" | "s32" => Compared::Word { signed },
        "b64" | "u64" | "s64" => Compared::Double { signed },
        "f32" => Compared::Float,
        "f64" => Compared::FloatDouble,
        _ => return None,
    };
    let floats = what.is_float();
    let relation = match operator {
        "eq" => Equal,
        "ne" => NotEqual,
        "lt" => Less,
        "le" => LessOrEqual,
        "gt" => Greater,
        "ge" => GreaterOrEqual,
        "lo" if !floats => Less,
        "ls" if !floats => LessOrEqual,
        "hi" if !floats => Greater,
        "hs" if !floats => GreaterOrEqual,
        "equ" if floats => EqualOrNan,
        "neu" if floats => NotEqualOrNan,
        "ltu" if floats => LessOrNan,
        "leu" if floats => LessOrEqualOrNan,
        "gtu" if floats => GreaterOrNan,
        "geu" if floats => GreaterOrEqualOrNan,
        "num" if floats => Numbers,
        "nan" if floats => Nan,
        _ => return None,
    };
    Some((relation, what))
}
