//! AMD's GPUs: how HIP's functions write the operations that these have, with clang's built-in functions.

use vop::lower::{Op as Base, PackedOp};

use crate::code::{Extra, Shift, byte};
use crate::machine;
use crate::print::{Device, Expression};

/// The devices, on which clang defines `__AMDGCN__`. It defines that also where it compiles the host's part of HIP.
pub(crate) static DEVICE: Device = Device {
    machine: &machine::AMDGCN,
    is_defined: "VOP_PORT_AMDGCN",
    prelude: "\
/* AMD's GPUs have instructions for packed half-words and for bytes. Other devices and older compilers take plain operations. */
#if defined(__HIP_DEVICE_COMPILE__) && defined(__AMDGCN__) && defined(__has_builtin) && !defined(VOP_PORT_AMDGCN)
#if __has_builtin(__builtin_elementwise_add_sat)
#define VOP_PORT_AMDGCN 1
#endif
#endif
",
    helper,
};

/// What an operation on lanes is called.
struct Call {
    name: String,
    /// The type of the lanes: of half-words a vector.
    lane: &'static str,
    is_vector: bool,
    /// The operation of x and y.
    value: &'static str,
}

fn call(extra: Extra) -> Option<Call> {
    let (what, signed, bits, value) = match extra {
        Extra::Base(Base::Packed(op, lanes)) => {
            let (what, value) = match op {
                PackedOp::Add => ("add", "x + y"),
                PackedOp::Sub => ("sub", "x - y"),
                PackedOp::AddSat => ("add_sat", "__builtin_elementwise_add_sat(x, y)"),
                PackedOp::SubSat => ("sub_sat", "__builtin_elementwise_sub_sat(x, y)"),
                PackedOp::Min => ("min", "__builtin_elementwise_min(x, y)"),
                PackedOp::Max => ("max", "__builtin_elementwise_max(x, y)"),
                PackedOp::MinRelu | PackedOp::MaxRelu => return None,
            };
            (what, lanes.signed, lanes.bits, value)
        }
        Extra::Base(Base::AddSat) => ("add_sat", true, 32, "__builtin_elementwise_add_sat(x, y)"),
        Extra::Base(Base::AddSatUnsigned) => ("add_sat", false, 32, "__builtin_elementwise_add_sat(x, y)"),
        Extra::Base(Base::SubSat) => ("sub_sat", true, 32, "__builtin_elementwise_sub_sat(x, y)"),
        Extra::Base(Base::Min(ty)) => ("min", ty.is_signed(), 32, "__builtin_elementwise_min(x, y)"),
        Extra::Base(Base::Max(ty)) => ("max", ty.is_signed(), 32, "__builtin_elementwise_max(x, y)"),
        Extra::Shift(shift) => match shift {
            Shift::Left => ("shl", false, 16, "x << y"),
            Shift::Right => ("shr", false, 16, "x >> y"),
            Shift::RightSigned => ("shr", true, 16, "x >> y"),
        },
        _ => return None,
    };
    let lane = match (bits, signed) {
        (16, false) => "unsigned short",
        (16, true) => "short",
        (_, false) => "unsigned",
        (_, true) => "int",
    };
    let lanes = match bits {
        16 => "16x2",
        _ => "32",
    };
    let name = format!("vop_{what}_{}{lanes}", if signed { 's' } else { 'u' });
    Some(Call { name, lane, is_vector: bits == 16, value })
}

/// An operation as an expression.
pub(crate) fn extra(extra: Extra, at: &[Expression]) -> Expression {
    let text = |i: usize| at[i].text.as_str();
    if let Some(call) = call(extra) {
        return Expression::atom(format!("{}({}, {})", call.name, text(0), text(1)));
    }
    let all: Vec<&str> = at.iter().map(|x| x.text.as_str()).collect();
    let name = match extra {
        Extra::Base(Base::Lop3(0xca)) => "vop_choose_bits",
        Extra::Base(Base::Lop3(table)) => {
            let [x, y, z] = [0, 1, 2].map(|i| at[i].inner());
            return Expression::operator(match table {
                0xea => format!("({x} & {y}) | {z}"),
                _ => format!("{x} | {y} | {z}"),
            });
        }
        Extra::Base(Base::Dp4a(x, _)) if x.is_signed() => "vop_dot4_s8",
        Extra::Base(Base::Dp4a(..)) => "vop_dot4_u8",
        Extra::Sad(32) => "vop_sad_u32",
        Extra::Average(_) => return Expression::atom(format!("__builtin_amdgcn_lerp({}, 0x1010101u)", all.join(", "))),
        Extra::Sad(bits) => return Expression::atom(format!("__builtin_amdgcn_sad_u{bits}({})", all.join(", "))),
        Extra::Bytes(places) => {
            // The instruction numbers bytes from its second operand, and signs those of odd bytes alone.
            let selector = u32::from_le_bytes(places.map(|place| match place {
                byte::ZERO => 12,
                byte::ONES => 13,
                place if place >= byte::SIGN => 8 + (place & 7) / 2,
                place => place,
            }));
            let (first, second) = (text(0), text(at.len() - 1));
            return Expression::atom(format!("__builtin_amdgcn_perm({second}, {first}, {selector:#x}u)"));
        }
        other => return Expression::atom(format!("{other:?}")),
    };
    Expression::atom(format!("{name}({})", all.join(", ")))
}

/// The definition of a function that an operation is written as.
fn helper(extra: Extra) -> Option<String> {
    let before = "static inline __device__ unsigned";
    let (name, text) = if let Some(Call { name, lane, is_vector, value }) = call(extra) {
        let parameters =
            if matches!(extra, Extra::Shift(_)) { "unsigned a, unsigned n" } else { "unsigned a, unsigned b" };
        let second = if matches!(extra, Extra::Shift(_)) { "n" } else { "b" };
        let body = match (is_vector, second) {
            (false, _) => format!("    const {lane} x = ({lane})a, y = ({lane})b;\n    return (unsigned)({value});\n"),
            (true, second) => {
                let y = match second {
                    "n" => format!("({lane})n"),
                    _ => "__builtin_bit_cast(lanes, b)".to_string(),
                };
                format!(
                    "    typedef {lane} lanes __attribute__((ext_vector_type(2)));\n    \
                     const lanes x = __builtin_bit_cast(lanes, a), y = {y};\n    \
                     return __builtin_bit_cast(unsigned, (lanes)({value}));\n"
                )
            }
        };
        let text = format!("{before} {name}({parameters})\n{{\n{body}}}\n");
        (name, text)
    } else {
        match extra {
            Extra::Base(Base::Lop3(0xca)) => {
                let name = "vop_choose_bits";
                let body = "    return (mask & a) | (~mask & b);\n";
                (name.to_string(), format!("{before} {name}(unsigned mask, unsigned a, unsigned b)\n{{\n{body}}}\n"))
            }
            Extra::Base(Base::Dp4a(x, _)) => dot(before, x.is_signed()),
            // clang makes `v_sad_u32` of it, for which it has no built-in function.
            Extra::Sad(32) => {
                let name = "vop_sad_u32";
                let body = "    return (a > b ? a - b : b - a) + c;\n";
                (name.to_string(), format!("{before} {name}(unsigned a, unsigned b, unsigned c)\n{{\n{body}}}\n"))
            }
            _ => return None,
        }
    };
    let guard = name.to_uppercase();
    Some(format!("#if defined(VOP_PORT_AMDGCN) && !defined({guard})\n#define {guard}\n{text}#endif\n"))
}

/// A dot product of bytes, by the instruction that a GPU has for it.
fn dot(before: &str, signed: bool) -> (String, String) {
    let (name, lane) = if signed { ("vop_dot4_s8", "signed char") } else { ("vop_dot4_u8", "unsigned char") };
    const MODELS: [&str; 17] = [
        "906",
        "908",
        "90a",
        "940",
        "941",
        "942",
        "950",
        "1011",
        "1012",
        "1030",
        "1031",
        "1032",
        "1033",
        "1034",
        "1035",
        "1036",
        "10_3_generic",
    ];
    let old = MODELS.map(|model| format!("defined(__gfx{model}__)")).join(" || ");
    let new = "defined(__GFX11__) || defined(__GFX12__)";
    let by_lanes: Vec<String> = (0..4)
        .map(|i| {
            let lane = |x: &str| format!("({lane})({x} >> {})", 8 * i);
            format!("(unsigned)({} * {})", lane("a"), lane("b"))
        })
        .collect();
    let by_lanes = format!("    return c + {};\n", by_lanes.join(" + "));
    let body = match signed {
        true => format!(
            "#if {new}\n    return (unsigned)__builtin_amdgcn_sudot4(true, (int)a, true, (int)b, (int)c, false);\n\
             #elif {old}\n    return (unsigned)__builtin_amdgcn_sdot4((int)a, (int)b, (int)c, false);\n#else\n{by_lanes}#endif\n"
        ),
        false => {
            format!("#if {new} || {old}\n    return __builtin_amdgcn_udot4(a, b, c, false);\n#else\n{by_lanes}#endif\n")
        }
    };
    (name.to_string(), format!("{before} {name}(unsigned a, unsigned b, unsigned c)\n{{\n{body}}}\n"))
}
