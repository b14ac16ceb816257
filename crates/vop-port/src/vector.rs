//! C on vectors of words: AVX2, AVX-512 and NEON. A function takes the registers of many threads, one in each word.

use vop::isa::types::Comparison;
use vop::lower::{Op as Base, PackedOp, Value};

use crate::code::{Extra, Op, Shift, Sort, Width, byte};
use crate::print::{Expression, Function, Syntax, block_comment, indented};

/// Intrinsics of one family.
pub(crate) struct Vector {
    /// The type of a vector of words.
    vector: &'static str,
    /// The type of a truth value in each word.
    truth: &'static str,
    prelude: &'static str,
    /// What a file says of the parameters.
    parameters: &'static str,
    /// A constant in each word, of its digits.
    literal: fn(&str) -> String,
    operation: fn(Op, &[Expression]) -> String,
}

pub(crate) static AVX2: Vector = Vector {
    vector: "__m256i",
    truth: "__m256i",
    prelude: "#include <immintrin.h>\n",
    parameters: "Each function takes the registers a, b and c of eight threads, a word each, and returns d of each. Compilers need -mavx2.",
    literal: |digits| format!("_mm256_set1_epi32((int){digits}u)"),
    operation: avx2,
};

pub(crate) static AVX512: Vector = Vector {
    vector: "__m512i",
    truth: "__mmask16",
    prelude: "#include <immintrin.h>\n",
    parameters: "Each function takes the registers a, b and c of sixteen threads, a word each, and returns d of each. Compilers need \
                 -mavx512f and -mavx512bw.",
    literal: |digits| format!("_mm512_set1_epi32((int){digits}u)"),
    operation: avx512,
};

pub(crate) static NEON: Vector = Vector {
    vector: "uint32x4_t",
    truth: "uint32x4_t",
    prelude: "#include <arm_neon.h>\n",
    parameters: "Each function takes the registers a, b and c of four threads, a word each, and returns d of each.",
    literal: |digits| format!("vdupq_n_u32({digits}u)"),
    operation: neon,
};

fn letter(signed: bool) -> char {
    if signed { 'i' } else { 'u' }
}

/// All operands, separated by commas.
fn list(at: &[Expression]) -> String {
    at.iter().map(|x| x.text.as_str()).collect::<Vec<_>>().join(", ")
}

/// The amount of a shift, if it is a constant.
fn amount(x: &Expression) -> Option<u32> {
    x.text.parse().ok()
}

/// The name of an intrinsic of x86 for an operation on lanes, behind its prefix.
fn x86_lanes(extra: Extra) -> Option<String> {
    Some(match extra {
        Extra::Base(Base::Packed(op, lanes)) => {
            let typed = format!("ep{}{}", letter(lanes.signed), lanes.bits);
            match op {
                PackedOp::Add => format!("add_epi{}", lanes.bits),
                PackedOp::Sub => format!("sub_epi{}", lanes.bits),
                PackedOp::AddSat => format!("adds_{typed}"),
                PackedOp::SubSat => format!("subs_{typed}"),
                PackedOp::Min => format!("min_{typed}"),
                PackedOp::Max => format!("max_{typed}"),
                PackedOp::MinRelu | PackedOp::MaxRelu => return None,
            }
        }
        Extra::Base(Base::Min(ty)) => format!("min_ep{}32", letter(ty.is_signed())),
        Extra::Base(Base::Max(ty)) => format!("max_ep{}32", letter(ty.is_signed())),
        Extra::Average(bits) => format!("avg_epu{bits}"),
        Extra::Shift(Shift::Left) => "slli_epi16".to_string(),
        Extra::Shift(Shift::Right) => "srli_epi16".to_string(),
        Extra::Shift(Shift::RightSigned) => "srai_epi16".to_string(),
        _ => return None,
    })
}

/// What AVX2 and AVX-512 write alike; `p` is the prefix of names, `bits` the width of a vector.
fn x86(p: &str, bits: u32, op: Op, at: &[Expression]) -> Option<String> {
    let all = list(at);
    let x = at.first().map_or("", |x| x.text.as_str());
    Some(match op {
        Op::And(_) => format!("{p}and_si{bits}({all})"),
        Op::Or(_) => format!("{p}or_si{bits}({all})"),
        Op::Xor(_) => format!("{p}xor_si{bits}({all})"),
        Op::Not(_) => format!("{p}xor_si{bits}({x}, {p}set1_epi32(-1))"),
        Op::Add(_) => format!("{p}add_epi32({all})"),
        Op::Sub(_) => format!("{p}sub_epi32({all})"),
        Op::Mul(_) => format!("{p}mullo_epi32({all})"),
        Op::Shl(_) | Op::Shr(_) | Op::Sar(_) => {
            let direction = match op {
                Op::Shl(_) => "sll",
                Op::Shr(_) => "srl",
                _ => "sra",
            };
            let kind = if amount(&at[1]).is_some() { 'i' } else { 'v' };
            format!("{p}{direction}{kind}_epi32({all})")
        }
        Op::Extra(Extra::Bytes(places)) => {
            // Bytes are numbered within 16, and all bits set give zero.
            let words = (0..4u32).map(|word| {
                let bytes = places.map(|place| if place == byte::ZERO { 0xff } else { place + 4 * word as u8 });
                format!("(int){:#x}u", u32::from_le_bytes(bytes))
            });
            let sixteen = format!("_mm_setr_epi32({})", words.collect::<Vec<_>>().join(", "));
            let spread = if bits == 256 { "broadcastsi128_si256" } else { "broadcast_i32x4" };
            format!("{p}shuffle_epi8({x}, {p}{spread}({sixteen}))")
        }
        Op::Extra(Extra::Sum(lanes)) => {
            let [bytes, halves] = [format!("{p}set1_epi8(1)"), format!("{p}set1_epi16(1)")];
            match (lanes.bits, lanes.signed) {
                // Of the first instruction the first operand has no sign, and the second has one.
                (8, false) => format!("{p}madd_epi16({p}maddubs_epi16({x}, {bytes}), {halves})"),
                (8, true) => format!("{p}madd_epi16({p}maddubs_epi16({bytes}, {x}), {halves})"),
                _ => format!("{p}madd_epi16({x}, {halves})"),
            }
        }
        Op::Extra(extra) => format!("{p}{}({all})", x86_lanes(extra)?),
        _ => return None,
    })
}

fn avx2(op: Op, at: &[Expression]) -> String {
    const P: &str = "_mm256_";
    let not = |text: String| format!("{P}xor_si256({text}, {P}set1_epi32(-1))");
    let swapped = || format!("{}, {}", at[1].text, at[0].text);
    let compare = |comparison: Comparison, bits: u32, signed: bool| {
        let equal = || format!("{P}cmpeq_epi{bits}({})", list(at));
        let [greater, less] = [list(at), swapped()].map(|of| format!("{P}cmpgt_epi{bits}({of})"));
        let bounded = |name: &str| format!("{P}cmpeq_epi{bits}({P}{name}_epu{bits}({}), {})", list(at), at[0].text);
        match (comparison, signed) {
            (Comparison::Eq, _) => equal(),
            (Comparison::Ne, _) => not(equal()),
            (Comparison::Gt, true) => greater,
            (Comparison::Lt, true) => less,
            (Comparison::Ge, true) => not(less),
            (Comparison::Le, true) => not(greater),
            (Comparison::Ge, false) => bounded("max"),
            (Comparison::Le, false) => bounded("min"),
            (Comparison::Gt, false) => not(bounded("min")),
            (Comparison::Lt, false) => not(bounded("max")),
        }
    };
    match op {
        Op::Compare(comparison, _) => compare(comparison, 32, false),
        Op::CompareSigned(comparison, _) => compare(comparison, 32, true),
        Op::Extra(Extra::Compare(comparison, lanes)) => compare(comparison, lanes.bits, lanes.signed),
        Op::Select(_) => format!("{P}blendv_epi8({}, {}, {})", at[2].text, at[1].text, at[0].text),
        Op::Number => format!("{P}srli_epi32({}, 31)", at[0].text),
        other => x86(P, 256, other, at).unwrap_or_default(),
    }
}

fn relation(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Eq => "eq",
        Comparison::Ne => "neq",
        Comparison::Lt => "lt",
        Comparison::Le => "le",
        Comparison::Gt => "gt",
        Comparison::Ge => "ge",
    }
}

fn avx512(op: Op, at: &[Expression]) -> String {
    const P: &str = "_mm512_";
    let mask = |comparison: Comparison, bits: u32, signed: bool| {
        format!("{P}cmp{}_ep{}{bits}_mask({})", relation(comparison), letter(signed), list(at))
    };
    match op {
        Op::Compare(comparison, _) => mask(comparison, 32, false),
        Op::CompareSigned(comparison, _) => mask(comparison, 32, true),
        Op::Extra(Extra::Compare(comparison, lanes)) => {
            format!("{P}movm_epi{}({})", lanes.bits, mask(comparison, lanes.bits, lanes.signed))
        }
        Op::Select(_) => format!("{P}mask_blend_epi32({}, {}, {})", at[0].text, at[2].text, at[1].text),
        Op::Number => format!("{P}maskz_set1_epi32({}, 1)", at[0].text),
        Op::Extra(Extra::Base(Base::Lop3(table))) => format!("{P}ternarylogic_epi32({}, {table:#x})", list(at)),
        other => x86(P, 512, other, at).unwrap_or_default(),
    }
}

fn neon(op: Op, at: &[Expression]) -> String {
    let all = list(at);
    let x = at.first().map_or("", |x| x.text.as_str());
    let ty = |signed: bool, bits: u32| format!("{}{bits}", if signed { 's' } else { 'u' });
    // A word as lanes, and back.
    let lanes_of = |x: &str, ty: &str| match x.strip_prefix(&format!("vreinterpretq_u32_{ty}(")) {
        _ if ty == "u32" => x.to_string(),
        Some(rest) if crate::print::encloses(x, x.len() - rest.len() - 1) => rest[..rest.len() - 1].to_string(),
        _ => format!("vreinterpretq_{ty}_u32({x})"),
    };
    let word_of = |text: String, ty: &str| match ty {
        "u32" => text,
        _ => format!("vreinterpretq_u32_{ty}({text})"),
    };
    let both = |name: &str, ty: &str, gives: &str| {
        let given: Vec<String> = at.iter().map(|x| lanes_of(&x.text, ty)).collect();
        word_of(format!("{name}q_{ty}({})", given.join(", ")), gives)
    };
    let compare = |comparison: Comparison, signed: bool, bits: u32| {
        let gives = ty(false, bits);
        let name = match comparison {
            Comparison::Eq | Comparison::Ne => "vceq",
            Comparison::Lt => "vclt",
            Comparison::Le => "vcle",
            Comparison::Gt => "vcgt",
            Comparison::Ge => "vcge",
        };
        let text = both(name, &ty(signed, bits), &gives);
        if comparison == Comparison::Ne { format!("vmvnq_u32({text})") } else { text }
    };
    match op {
        Op::And(_) => format!("vandq_u32({all})"),
        Op::Or(_) => format!("vorrq_u32({all})"),
        Op::Xor(_) => format!("veorq_u32({all})"),
        Op::Not(_) => format!("vmvnq_u32({all})"),
        Op::Add(_) => format!("vaddq_u32({all})"),
        Op::Sub(_) => format!("vsubq_u32({all})"),
        Op::Mul(_) => format!("vmulq_u32({all})"),
        Op::Shl(_) | Op::Shr(_) | Op::Sar(_) => {
            let ty = ty(matches!(op, Op::Sar(_)), 32);
            let x = lanes_of(x, &ty);
            let direction = if matches!(op, Op::Shl(_)) { "vshl" } else { "vshr" };
            let text = match amount(&at[1]) {
                Some(amount) => format!("{direction}q_n_{ty}({x}, {amount})"),
                // A shift to the right is one to the left by a negative amount.
                None => {
                    let amount = format!("vreinterpretq_s32_u32({})", at[1].text);
                    let amount = if matches!(op, Op::Shl(_)) { amount } else { format!("vnegq_s32({amount})") };
                    format!("vshlq_{ty}({x}, {amount})")
                }
            };
            word_of(text, &ty)
        }
        Op::Compare(comparison, _) => compare(comparison, false, 32),
        Op::CompareSigned(comparison, _) => compare(comparison, true, 32),
        Op::Select(_) => format!("vbslq_u32({all})"),
        Op::Number => format!("vshrq_n_u32({x}, 31)"),
        Op::Extra(extra) => match extra {
            Extra::Base(Base::Packed(op, lanes)) => {
                let (name, signed) = match op {
                    PackedOp::Add => ("vadd", false),
                    PackedOp::Sub => ("vsub", false),
                    PackedOp::AddSat => ("vqadd", lanes.signed),
                    PackedOp::SubSat => ("vqsub", lanes.signed),
                    PackedOp::Min | PackedOp::MinRelu => ("vmin", lanes.signed),
                    PackedOp::Max | PackedOp::MaxRelu => ("vmax", lanes.signed),
                };
                let ty = ty(signed, lanes.bits);
                both(name, &ty, &ty)
            }
            Extra::Base(Base::AddSat) => both("vqadd", "s32", "s32"),
            Extra::Base(Base::SubSat) => both("vqsub", "s32", "s32"),
            Extra::Base(Base::AddSatUnsigned) => both("vqadd", "u32", "u32"),
            Extra::Base(Base::Min(of)) => both("vmin", &ty(of.is_signed(), 32), &ty(of.is_signed(), 32)),
            Extra::Base(Base::Max(of)) => both("vmax", &ty(of.is_signed(), 32), &ty(of.is_signed(), 32)),
            Extra::Base(_) => format!("vbslq_u32({all})"),
            Extra::Absdiff(lanes) => both("vabd", &ty(lanes.signed, lanes.bits), &ty(lanes.signed, lanes.bits)),
            Extra::Average(bits) => both("vrhadd", &ty(false, bits), &ty(false, bits)),
            Extra::Compare(comparison, lanes) => compare(comparison, lanes.signed, lanes.bits),
            Extra::Shift(shift) => {
                let ty = ty(shift == Shift::RightSigned, 16);
                let name = if shift == Shift::Left { "vshlq_n" } else { "vshrq_n" };
                word_of(format!("{name}_{ty}({}, {})", lanes_of(x, &ty), at[1].text), &ty)
            }
            Extra::Sum(lanes) => {
                let of = |bits: u32| ty(lanes.signed, bits);
                let halves = match lanes.bits {
                    8 => format!("vpaddlq_{}({})", of(8), lanes_of(x, &of(8))),
                    _ => lanes_of(x, &of(16)),
                };
                word_of(format!("vpaddlq_{}({halves})", of(16)), &of(32))
            }
            Extra::Bytes(places) => {
                let index = (0..4u64).map(|word| {
                    let bytes = places.map(|place| match place {
                        byte::ZERO => 0xff,
                        place => (place & 3) + 4 * word as u8 + if place < 4 { 0 } else { 16 },
                    });
                    u64::from(u32::from_le_bytes(bytes))
                });
                let words: Vec<u64> = index.collect();
                let [low, high] = [0, 2].map(|i| format!("vcreate_u8({:#x}u)", words[i] | words[i + 1] << 32));
                let index = format!("vcombine_u8({low}, {high})");
                let text = match at {
                    [x] => format!("vqtbl1q_u8({}, {index})", lanes_of(&x.text, "u8")),
                    _ => {
                        let of: Vec<String> = at.iter().map(|x| lanes_of(&x.text, "u8")).collect();
                        format!("vqtbl2q_u8((uint8x16x2_t){{{{{}}}}}, {index})", of.join(", "))
                    }
                };
                word_of(text, "u8")
            }
            Extra::Sad(_) => String::new(),
        },
        Op::Widen | Op::WidenSigned | Op::Narrow => String::new(),
    }
}

impl Syntax for Vector {
    fn literal(&self, value: u64, _: Width) -> String {
        (self.literal)(&if value < 10 { value.to_string() } else { format!("{value:#x}") })
    }

    fn amount(&self, word: u32) -> String {
        word.to_string()
    }

    fn operation(&self, op: Op, at: &[Expression]) -> Expression {
        Expression::atom((self.operation)(op, at))
    }

    fn name(&self, name: &str, sort: Sort, value: &str) -> String {
        let ty = if sort == Sort::Truth { self.truth } else { self.vector };
        format!("const {ty} {name} = {value};")
    }

    fn function(&self, function: &Function<'_>, statements: &[String], result: &str, alone: bool) -> String {
        let ty = self.vector;
        let registers = [(Value::A, "a"), (Value::B, "b"), (Value::C, "c")];
        let unread = registers.iter().filter(|(register, _)| !function.code.reads(*register));
        let unread: Vec<String> = unread.map(|(_, name)| format!("(void){name};")).collect();
        format!(
            "{}{}{ty} {}({ty} a, {ty} b, {ty} c)\n{{\n{}{}    return {result};\n}}\n",
            block_comment(function.words),
            if alone { "" } else { "static inline " },
            function.name,
            indented(statements),
            indented(&unread),
        )
    }

    fn prelude(&self) -> &'static str {
        self.prelude
    }

    fn parameters(&self) -> &'static str {
        self.parameters
    }

    fn file(&self, words: &[String], functions: &[String]) -> String {
        crate::print::header(words, self.prelude, functions)
    }
}
