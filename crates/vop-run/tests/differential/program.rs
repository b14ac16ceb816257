//! What a random program is made of: registers, instructions with their meaning, functions.

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// `.b16`, `.b32`, `.b64`, `.pred`: the registers that instructions are made of.
    H,
    W,
    D,
    P,
    /// `.b64` that hold addresses, `.b32` that count loops and `.b32` with what the kernel knows of itself.
    Address,
    Counter,
    Own,
}
pub(crate) use Kind::{Address, Counter, D, H, Own, P, W};

pub(crate) const KINDS: [(Kind, &str, &str, usize); 7] = [
    (H, "%h", "b16", 4),
    (W, "%r", "b32", 9),
    (D, "%d", "b64", 5),
    (P, "%p", "pred", 5),
    (Address, "%a", "b64", 4),
    (Counter, "%c", "b32", 12),
    (Own, "%o", "b32", 6),
];

pub(crate) type Reg = (Kind, usize);

pub(crate) fn name((kind, index): Reg) -> String {
    let (_, prefix, ..) = KINDS.iter().find(|(k, ..)| *k == kind).unwrap();
    format!("{prefix}{index}")
}

pub(crate) fn bits(kind: Kind) -> u32 {
    match kind {
        P => 1,
        H => 16,
        D | Address => 64,
        _ => 32,
    }
}

pub(crate) fn cut(value: u64, bits: u32) -> u64 {
    if bits == 64 { value } else { value & ((1 << bits) - 1) }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Source {
    Reg(Reg),
    /// The bits, of the operand's type.
    Immediate(u64),
    Special(&'static str),
}

pub(crate) fn text(source: Source) -> String {
    match source {
        Source::Reg(reg) => name(reg),
        Source::Immediate(value) => format!("{value:#x}"),
        Source::Special(name) => name.to_owned(),
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Space {
    Global,
    Shared,
    Local,
    Const,
    Generic,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Lanes {
    Up,
    Down,
    Butterfly,
    Index,
    All,
    Any,
    Uniform,
    Ballot,
    MatchAny,
    MatchWide,
    MatchAll,
    /// The operation of [`REDUCE`] with this index.
    Reduce(usize),
    Elect,
    Sync,
}

pub(crate) type Evaluate = fn(&[u64]) -> u64;

#[derive(Clone, Debug)]
pub(crate) enum Ins {
    Label(usize),
    /// A brace or a directive: no instruction.
    Text(String),
    Do(Option<(usize, bool)>, What),
}

#[derive(Clone, Debug)]
pub(crate) enum What {
    /// Opcode, destination, sources.
    Alu(&'static str, Evaluate, Reg, Vec<Source>),
    Video(String, vop::Form, Reg, [Source; 3]),
    /// The sum or difference with the carry flag: whether to subtract, and whether the flag comes in.
    Carry(&'static str, bool, bool, Reg, [Source; 2]),
    /// `setp` with two results, and a third predicate with its combination.
    SetP(&'static str, Compare, usize, usize, [Source; 2], Option<(&'static str, usize, bool)>),
    Branch(usize),
    /// The list's number, and where it goes.
    Switch(usize, Reg, Vec<usize>),
    /// Space, signed, bytes of an element, destinations, address, offset.
    Load(Space, bool, u32, Vec<Reg>, Reg, i64),
    Store(Space, u32, Vec<Reg>, Reg, i64),
    Reduce(Space, &'static str, Evaluate, Reg, Source),
    /// An atomic: space, operation, its meaning on the old value and the operands, bytes, destination, address, operands.
    Atomic(Space, &'static str, Evaluate, u32, Reg, Reg, Vec<Source>),
    /// The address of the function's array.
    LocalAddress(Reg),
    SharedAddress(Reg),
    ConstAddress(Reg),
    /// The generic address of an address of the space.
    Cvta(Space, Reg),
    /// A register of registers that are half as wide or a quarter, and back.
    Pack(Reg, Vec<Reg>),
    Unpack(Vec<Reg>, Reg),
    /// Four bytes of global memory to shared memory, asynchronously, and the wait for them.
    Copy(Reg, Reg),
    WaitForCopies,
    /// Bytes from the heap, and back to it.
    Malloc(Reg, u64),
    Free(Reg),
    /// A line of [`FORMATS`], with the list of arguments at the address.
    Print(usize, Reg),
    /// One of the kernel's or the function's parameters.
    Parameter(Reg, usize),
    PutArgument(usize, usize, Reg),
    Call(usize, usize),
    CallByAddress(usize, Reg),
    GetResult(usize, Reg),
    /// A call of a function whose parameters are registers.
    CallRegisters(usize, Reg, [Source; 2]),
    Return,
    PutReturn(Reg),
    FunctionAddress(Reg, usize),
    Exit,
    Barrier(usize),
    BarrierCount(Reg, usize),
    BarrierVote(bool, usize, usize),
    /// `barrier.sync`, which threads may execute at several places.
    BarrierApart(usize),
    /// Whether not to wait, the barrier, the number of threads.
    BarrierCounted(bool, usize, usize),
    Lanes(Lanes, Reg, Option<usize>, Vec<Source>, Source),
    Active(Reg),
}

#[derive(Default)]
pub(crate) struct Function {
    pub(crate) body: Vec<Ins>,
    /// Whether its parameters are registers.
    pub(crate) registers: bool,
}

pub(crate) struct Case {
    pub(crate) functions: Vec<Function>,
    pub(crate) grid: [u32; 3],
    pub(crate) block: [u32; 3],
    pub(crate) input: Vec<u8>,
    /// Elements that a thread may read of the input, behind which the buffer ends.
    pub(crate) elements: u32,
    /// The table in constant memory.
    pub(crate) table: [u32; TABLE],
}

impl Case {
    pub(crate) fn does(&self, this: impl Fn(&What) -> bool) -> bool {
        self.functions
            .iter()
            .flat_map(|function| &function.body)
            .any(|ins| matches!(ins, Ins::Do(_, what) if this(what)))
    }
}

/// Words of the table in constant memory.
pub(crate) const TABLE: usize = 16;

/// Words of the array that each function has on the stack.
pub(crate) const LOCAL: usize = 8;
/// What a thread leaves: all its registers.
pub(crate) const OUT: usize = 8 * 24;
/// Words in shared memory for sums, before one for each thread.
pub(crate) const SUMS: usize = 8;

pub(crate) fn s32(x: u64) -> i64 {
    i64::from(x as u32 as i32)
}
pub(crate) fn s16(x: u64) -> i64 {
    i64::from(x as u16 as i16)
}
pub(crate) fn shift(x: u64, bits: u64) -> u32 {
    x.min(bits) as u32
}

/// The bits of a field, by the pseudocode of `bfe`.
fn extract(s: &[u64], signed: bool) -> u64 {
    let (start, length) = (s[1] & 0xff, s[2] & 0xff);
    let fill = if signed && length > 0 { s[0] >> (start + length - 1).min(31) & 1 } else { 0 };
    (0..32).fold(0, |d, i| d | (if i < length && start + i <= 31 { s[0] >> (start + i) & 1 } else { fill }) << i)
}

fn f32s(x: u64) -> f32 {
    f32::from_bits(x as u32)
}
/// A NaN is `0x7fffffff`.
fn single(x: f32) -> u64 {
    u64::from(if x.is_nan() { 0x7fff_ffff } else { x.to_bits() })
}
/// A NaN is the first one among the operands, made quiet.
fn double(x: f64, sources: &[u64]) -> u64 {
    let nan = sources.iter().find(|source| f64::from_bits(**source).is_nan());
    let nan = nan.map_or(0xfff8_0000_0000_0000, |nan| nan | 1 << 51);
    if x.is_nan() { nan } else { x.to_bits() }
}
/// The smaller or the larger number; of a NaN and a number the number; -0 is below +0.
fn least(a: u64, b: u64, largest: bool) -> u64 {
    let (x, y) = (f32s(a), f32s(b));
    let negative = |x: u64| x >> 31 == 1;
    let first = if y.is_nan() {
        true
    } else if x.is_nan() {
        false
    } else if x == y {
        negative(a) != largest
    } else {
        (x < y) != largest
    };
    single(if first { x } else { y })
}

/// Opcode, destination, sources, meaning (the result is cut to the destination's width).
pub(crate) const ALU: &[(&str, Kind, &[Kind], Evaluate)] = &[
    ("add.s32", W, &[W, W], |s| s[0].wrapping_add(s[1])),
    ("sub.s32", W, &[W, W], |s| s[0].wrapping_sub(s[1])),
    ("mul.lo.s32", W, &[W, W], |s| s[0].wrapping_mul(s[1])),
    ("mul.hi.u32", W, &[W, W], |s| s[0].wrapping_mul(s[1]) >> 32),
    ("mul.hi.s32", W, &[W, W], |s| (s32(s[0]).wrapping_mul(s32(s[1])) >> 32) as u64),
    ("mul.wide.u32", D, &[W, W], |s| s[0].wrapping_mul(s[1])),
    ("mul.wide.s32", D, &[W, W], |s| s32(s[0]).wrapping_mul(s32(s[1])) as u64),
    ("mul.wide.s16", W, &[H, H], |s| s16(s[0]).wrapping_mul(s16(s[1])) as u64),
    ("mad.lo.s32", W, &[W, W, W], |s| s[0].wrapping_mul(s[1]).wrapping_add(s[2])),
    ("mad.wide.s32", D, &[W, W, D], |s| (s32(s[0]).wrapping_mul(s32(s[1])) as u64).wrapping_add(s[2])),
    ("sad.u32", W, &[W, W, W], |s| s[0].abs_diff(s[1]).wrapping_add(s[2])),
    ("min.s32", W, &[W, W], |s| s32(s[0]).min(s32(s[1])) as u64),
    ("max.u32", W, &[W, W], |s| s[0].max(s[1])),
    ("abs.s32", W, &[W], |s| s32(s[0]).unsigned_abs()),
    ("neg.s32", W, &[W], |s| s[0].wrapping_neg()),
    ("and.b32", W, &[W, W], |s| s[0] & s[1]),
    ("or.b32", W, &[W, W], |s| s[0] | s[1]),
    ("xor.b32", W, &[W, W], |s| s[0] ^ s[1]),
    ("not.b32", W, &[W], |s| !s[0]),
    ("cnot.b32", W, &[W], |s| u64::from(s[0] == 0)),
    ("shl.b32", W, &[W, W], |s| s[0].checked_shl(shift(s[1], 64)).unwrap_or(0)),
    ("shr.u32", W, &[W, W], |s| s[0].checked_shr(shift(s[1], 64)).unwrap_or(0)),
    ("shr.s32", W, &[W, W], |s| (s32(s[0]) >> shift(s[1], 63)) as u64),
    ("popc.b32", W, &[W], |s| u64::from(s[0].count_ones())),
    ("clz.b32", W, &[W], |s| u64::from((s[0] as u32).leading_zeros())),
    ("brev.b32", W, &[W], |s| u64::from((s[0] as u32).reverse_bits())),
    ("selp.b32", W, &[W, W, P], |s| if s[2] != 0 { s[0] } else { s[1] }),
    ("slct.s32.s32", W, &[W, W, W], |s| if s32(s[2]) >= 0 { s[0] } else { s[1] }),
    ("mov.b32", W, &[W], |s| s[0]),
    ("mad.hi.s32", W, &[W, W, W], |s| ((s32(s[0]).wrapping_mul(s32(s[1])) >> 32) as u64).wrapping_add(s[2])),
    ("mul24.lo.u32", W, &[W, W], |s| (s[0] & 0xff_ffff).wrapping_mul(s[1] & 0xff_ffff)),
    ("bfe.u32", W, &[W, W, W], |s| extract(s, false)),
    ("bfe.s32", W, &[W, W, W], |s| extract(s, true)),
    ("bfi.b32", W, &[W, W, W, W], |s| {
        let (start, length) = (s[2] & 0xff, s[3] & 0xff);
        (0..32).fold(0, |d, i| {
            let inside = i >= start && i < start + length;
            d | (if inside { s[0] >> (i - start) } else { s[1] >> i } & 1) << i
        })
    }),
    ("bfind.u32", W, &[W], |s| if s[0] == 0 { 0xffff_ffff } else { u64::from(s[0].ilog2()) }),
    ("bfind.shiftamt.s32", W, &[W], |s| {
        let a = if s32(s[0]) < 0 { !s[0] & 0xffff_ffff } else { s[0] };
        if a == 0 { 0xffff_ffff } else { 31 - u64::from(a.ilog2()) }
    }),
    ("lop3.b32", W, &[W, W, W], |s| {
        let index = |i: u64| (s[0] >> i & 1) << 2 | (s[1] >> i & 1) << 1 | (s[2] >> i & 1);
        (0..32).fold(0, |d, i| d | (s[3] >> index(i) & 1) << i)
    }),
    ("prmt.b32", W, &[W, W, W], |s| {
        let bytes = s[1] << 32 | s[0];
        (0..4).fold(0, |d, i| {
            let selector = s[2] >> (4 * i) & 15;
            let byte = bytes >> (8 * (selector & 7)) & 0xff;
            d | (if selector < 8 { byte } else { (byte >> 7) * 0xff }) << (8 * i)
        })
    }),
    ("shf.l.wrap.b32", W, &[W, W, W], |s| (s[1] << 32 | s[0]) << (s[2] & 31) >> 32),
    ("shf.r.clamp.b32", W, &[W, W, W], |s| (s[1] << 32 | s[0]) >> shift(s[2], 32)),
    ("dp4a.s32.u32", W, &[W, W, W], |s| {
        (0..4).fold(s[2], |sum, i| {
            let (a, b) = ((s[0] >> (8 * i)) as i8, (s[1] >> (8 * i)) as u8);
            sum.wrapping_add((i64::from(a) * i64::from(b)) as u64)
        })
    }),
    ("add.u16x2", W, &[W, W], |s| {
        let low = s[0].wrapping_add(s[1]) & 0xffff;
        (s[0] >> 16).wrapping_add(s[1] >> 16) << 16 | low
    }),
    ("min.s16x2", W, &[W, W], |s| {
        let least = |by: u32| s16(s[0] >> by).min(s16(s[1] >> by)) as u64 & 0xffff;
        least(16) << 16 | least(0)
    }),
    ("add.f32", W, &[W, W], |s| single(f32s(s[0]) + f32s(s[1]))),
    ("sub.rn.f32", W, &[W, W], |s| single(f32s(s[0]) - f32s(s[1]))),
    ("mul.f32", W, &[W, W], |s| single(f32s(s[0]) * f32s(s[1]))),
    ("fma.rn.f32", W, &[W, W, W], |s| single(f32s(s[0]).mul_add(f32s(s[1]), f32s(s[2])))),
    ("div.rn.f32", W, &[W, W], |s| single(f32s(s[0]) / f32s(s[1]))),
    ("sqrt.rn.f32", W, &[W], |s| single(f32s(s[0]).sqrt())),
    ("min.f32", W, &[W, W], |s| least(s[0], s[1], false)),
    ("max.f32", W, &[W, W], |s| least(s[0], s[1], true)),
    ("cvt.rn.f32.s32", W, &[W], |s| single(s32(s[0]) as f32)),
    ("cvt.rzi.s32.f32", W, &[W], |s| f32s(s[0]) as i32 as u64),
    ("cvt.rn.f32.f64", W, &[D], |s| single(f64::from_bits(s[0]) as f32)),
    ("setp.lt.f32", P, &[W, W], |s| u64::from(f32s(s[0]) < f32s(s[1]))),
    ("setp.geu.f32", P, &[W, W], |s| {
        let (a, b) = (f32s(s[0]), f32s(s[1]));
        u64::from(a >= b || a.is_nan() || b.is_nan())
    }),
    ("add.f64", D, &[D, D], |s| double(f64::from_bits(s[0]) + f64::from_bits(s[1]), s)),
    ("fma.rn.f64", D, &[D, D, D], |s| {
        double(f64::from_bits(s[0]).mul_add(f64::from_bits(s[1]), f64::from_bits(s[2])), s)
    }),
    ("cvt.rn.f64.s32", D, &[W], |s| (s32(s[0]) as f64).to_bits()),
    ("add.s16", H, &[H, H], |s| s[0].wrapping_add(s[1])),
    ("mul.lo.s16", H, &[H, H], |s| s[0].wrapping_mul(s[1])),
    ("max.s16", H, &[H, H], |s| s16(s[0]).max(s16(s[1])) as u64),
    ("shr.s16", H, &[H, W], |s| (s16(s[0]) >> shift(s[1], 63)) as u64),
    ("xor.b16", H, &[H, H], |s| s[0] ^ s[1]),
    ("selp.b16", H, &[H, H, P], |s| if s[2] != 0 { s[0] } else { s[1] }),
    ("add.s64", D, &[D, D], |s| s[0].wrapping_add(s[1])),
    ("sub.s64", D, &[D, D], |s| s[0].wrapping_sub(s[1])),
    ("mul.lo.s64", D, &[D, D], |s| s[0].wrapping_mul(s[1])),
    ("mul.hi.u64", D, &[D, D], |s| ((u128::from(s[0]) * u128::from(s[1])) >> 64) as u64),
    ("min.s64", D, &[D, D], |s| (s[0] as i64).min(s[1] as i64) as u64),
    ("and.b64", D, &[D, D], |s| s[0] & s[1]),
    ("shl.b64", D, &[D, W], |s| s[0].checked_shl(shift(s[1], 64)).unwrap_or(0)),
    ("shr.s64", D, &[D, W], |s| (s[0] as i64 >> shift(s[1], 63)) as u64),
    ("mad.lo.s64", D, &[D, D, D], |s| s[0].wrapping_mul(s[1]).wrapping_add(s[2])),
    ("max.u64", D, &[D, D], |s| s[0].max(s[1])),
    ("abs.s64", D, &[D], |s| (s[0] as i64).wrapping_abs() as u64),
    ("not.b64", D, &[D], |s| !s[0]),
    ("shr.u64", D, &[D, W], |s| s[0].checked_shr(shift(s[1], 64)).unwrap_or(0)),
    ("clz.b64", W, &[D], |s| u64::from(s[0].leading_zeros())),
    ("selp.b64", D, &[D, D, P], |s| if s[2] != 0 { s[0] } else { s[1] }),
    ("popc.b64", W, &[D], |s| u64::from(s[0].count_ones())),
    ("cvt.u64.u32", D, &[W], |s| s[0]),
    ("cvt.s64.s32", D, &[W], |s| s32(s[0]) as u64),
    ("cvt.u32.u64", W, &[D], |s| s[0]),
    ("cvt.s32.s16", W, &[H], |s| s16(s[0]) as u64),
    ("cvt.u32.u16", W, &[H], |s| s[0]),
    ("cvt.u16.u32", H, &[W], |s| s[0]),
    ("cvt.s32.s8", W, &[W], |s| s[0] as i8 as u64),
    ("cvt.sat.u8.s32", W, &[W], |s| s32(s[0]).clamp(0, 255) as u64),
    ("mov.pred", P, &[P], |s| s[0]),
    ("and.pred", P, &[P, P], |s| s[0] & s[1]),
    ("xor.pred", P, &[P, P], |s| s[0] ^ s[1]),
    ("not.pred", P, &[P], |s| s[0] ^ 1),
    ("setp.lt.s32", P, &[W, W], |s| u64::from(s32(s[0]) < s32(s[1]))),
    ("setp.hi.u32", P, &[W, W], |s| u64::from(s[0] > s[1])),
    ("setp.eq.s64", P, &[D, D], |s| u64::from(s[0] == s[1])),
    ("setp.ge.s16", P, &[H, H], |s| u64::from(s16(s[0]) >= s16(s[1]))),
    ("set.le.u32.s32", W, &[W, W], |s| if s32(s[0]) <= s32(s[1]) { 0xffff_ffff } else { 0 }),
];

/// Destinations are `d`, sources `a`, `b`, `c`.
pub(crate) const VIDEOS: [&str; 12] = [
    "vadd.s32.s32.u32.sat d, a.b1, b.h1;",
    "vsub.u32.s32.s32 d.h1, a, b.b3, c;",
    "vabsdiff.s32.u32.s32.add d, a.h0, b, c;",
    "vmin.s32.s32.s32.max d, a, b, c;",
    "vshl.u32.u32.u32.wrap d, a, b;",
    "vmad.s32.s32.s32.sat.shr7 d, a.h0, b.h1, c;",
    "vset.s32.u32.lt d, a, b.b2;",
    "vadd2.s32.s32.s32.sat d.h10, a.h32, b.h10, c;",
    "vavrg4.u32.u32.s32 d, a, b, c;",
    "vabsdiff4.u32.s32.u32.add d, a, b, c;",
    "vset4.u32.u32.ge d.b310, a, b, c;",
    "vmax4.s32.s32.u32 d.b20, a.b7531, b.b6420, c;",
];

/// Whether two operands compare so.
pub(crate) type Compare = fn(u64, u64) -> bool;

pub(crate) const COMPARE: [(&str, Compare); 6] = [
    ("eq.s32", |a, b| a == b),
    ("ne.u32", |a, b| a != b),
    ("le.s32", |a, b| s32(a) <= s32(b)),
    ("gt.s32", |a, b| s32(a) > s32(b)),
    ("lo.u32", |a, b| a < b),
    ("hs.u32", |a, b| a >= b),
];

pub(crate) const REDUCE: [(&str, Evaluate); 6] = [
    ("add.u32", |s| s[0].wrapping_add(s[1])),
    ("max.s32", |s| s32(s[0]).max(s32(s[1])) as u64),
    ("min.u32", |s| s[0].min(s[1])),
    ("or.b32", |s| s[0] | s[1]),
    ("and.b32", |s| s[0] & s[1]),
    ("xor.b32", |s| s[0] ^ s[1]),
];

/// Divisions, whose divisor must not be zero.
pub(crate) const DIVIDE: [(&str, Kind, Evaluate); 6] = [
    ("div.u32", W, |s| s[0] / s[1]),
    ("div.s32", W, |s| s32(s[0]).wrapping_div(s32(s[1])) as u64),
    ("rem.u32", W, |s| s[0] % s[1]),
    ("rem.s32", W, |s| s32(s[0]).wrapping_rem(s32(s[1])) as u64),
    ("div.s64", D, |s| (s[0] as i64).wrapping_div(s[1] as i64) as u64),
    ("rem.u64", D, |s| s[0] % s[1]),
];

/// Atomics: the kind of the operands, their number, and what becomes of the old value.
pub(crate) const ATOMIC: [(&str, Kind, usize, Evaluate); 13] = [
    ("add.u32", W, 1, |s| s[0].wrapping_add(s[1])),
    ("exch.b32", W, 1, |s| s[1]),
    ("cas.b32", W, 2, |s| if s[0] == s[1] { s[2] } else { s[0] }),
    ("inc.u32", W, 1, |s| if s[0] >= s[1] { 0 } else { s[0] + 1 }),
    ("dec.u32", W, 1, |s| if s[0] == 0 || s[0] > s[1] { s[1] } else { s[0] - 1 }),
    ("min.s32", W, 1, |s| s32(s[0]).min(s32(s[1])) as u64),
    ("xor.b32", W, 1, |s| s[0] ^ s[1]),
    ("add.f32", W, 1, |s| single(f32s(s[0]) + f32s(s[1]))),
    ("add.u64", D, 1, |s| s[0].wrapping_add(s[1])),
    ("exch.b64", D, 1, |s| s[1]),
    ("cas.b64", D, 2, |s| if s[0] == s[1] { s[2] } else { s[0] }),
    ("max.s64", D, 1, |s| (s[0] as i64).max(s[1] as i64) as u64),
    ("and.b64", D, 1, |s| s[0] & s[1]),
];

/// A format of `printf`, the kinds of its arguments, and the line that it makes of them.
type Format = (&'static str, &'static [Kind], fn(&[u64]) -> String);

pub(crate) const FORMATS: [Format; 4] = [
    ("%d %u;\n", &[W, W], |s| format!("{} {};", s32(s[0]), s[1])),
    ("%08x|%-6d|%+d\n", &[W, W, W], |s| format!("{:08x}|{:<6}|{:+}", s[0], s32(s[1]), s32(s[2]))),
    ("%lld %llX\n", &[D, D], |s| format!("{} {:X}", s[0] as i64, s[1])),
    ("%o%%%12u%lu\n", &[W, W, D], |s| format!("{:o}%{:>12}{}", s[0], s[1], s[2])),
];

/// Where the arguments of a format stand, each aligned to its size.
pub(crate) fn places(kinds: &[Kind]) -> Vec<(u64, u32)> {
    let mut end = 0;
    let place = |kind: &Kind| {
        let bytes = bits(*kind) / 8;
        let at = u64::next_multiple_of(end, u64::from(bytes));
        end = at + u64::from(bytes);
        (at, bytes)
    };
    kinds.iter().map(place).collect()
}
