//! What the machine instructions do.

use std::cmp::Ordering;

/// A place of the machine's state. Registers, predicates and constants are numbered alike when code is decoded; each holds
/// 32 bits, a predicate 0 or 1.
pub(super) type Slot = u16;

/// The slot that always holds 0: `RZ` as a source.
pub(super) const ZERO: Slot = 0;
/// The slot that always holds 1: `PT` as a source.
pub(super) const TRUE: Slot = 1;
/// The slot that is never read: `RZ` and `PT` as results.
pub(super) const SINK: Slot = 2;

/// A source of 32 bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Source {
    pub(super) slot: Slot,
    pub(super) modifier: Modifier,
}

/// What a source undergoes before it is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Modifier {
    /// `R0`
    Plain,
    /// `-R0`: two's complement, 2^32 for 0 where a carry is asked for.
    Negated,
    /// `~R0`: all bits turned.
    Inverted,
}

/// Two slots that hold 64 bits: as a result.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pair {
    pub(super) low: Slot,
    pub(super) high: Slot,
}

/// A source of 64 bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct PairSource {
    pub(super) pair: Pair,
    pub(super) negated: bool,
}

/// A source that is true or false.
#[derive(Debug, Clone, Copy)]
pub(super) struct Test {
    pub(super) slot: Slot,
    pub(super) negated: bool,
    /// Whether it is a register's sign, `R0.SIGN`, and not a predicate.
    pub(super) sign: bool,
}

impl Test {
    pub(super) const ALWAYS: Test = Test { slot: TRUE, negated: false, sign: false };
    pub(super) const NEVER: Test = Test { slot: TRUE, negated: true, sign: false };
}

/// How a word is cut into lanes, lowest first.
#[derive(Debug, Clone, Copy)]
pub(super) struct Lanes {
    /// 8, 16 or 32.
    pub(super) bits: u32,
    pub(super) signed: bool,
}

impl Lanes {
    pub(super) const fn new(bits: u32, signed: bool) -> Lanes {
        Lanes { bits, signed }
    }

    const fn count(self) -> u32 {
        32 / self.bits
    }

    const fn get(self, word: u32, lane: u32) -> i64 {
        let top = word << (32 - self.bits * (lane + 1));
        let unused = 32 - self.bits;
        if self.signed { (top as i32 >> unused) as i64 } else { (top >> unused) as i64 }
    }

    fn clamp(self, value: i64) -> i64 {
        let (least, greatest) =
            if self.signed { (-1 << (self.bits - 1), (1 << (self.bits - 1)) - 1) } else { (0, (1 << self.bits) - 1) };
        value.clamp(least, greatest)
    }

    /// The word whose lanes are the lower bits of what `value` gives for each lane.
    fn build(self, value: impl Fn(u32) -> i64) -> u32 {
        let mask = u32::MAX >> (32 - self.bits);
        (0..self.count()).fold(0, |word, lane| word | (value(lane) as u32 & mask) << (lane * self.bits))
    }
}

/// A comparison's name.
#[derive(Debug, Clone, Copy)]
pub(super) enum Comparison {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Comparison {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Comparison::Eq => order.is_eq(),
            Comparison::Ne => order.is_ne(),
            Comparison::Lt => order.is_lt(),
            Comparison::Le => order.is_le(),
            Comparison::Gt => order.is_gt(),
            Comparison::Ge => order.is_ge(),
        }
    }
}

/// How a comparison and another truth value make one.
#[derive(Debug, Clone, Copy)]
pub(super) enum Join {
    And,
    Or,
    Xor,
}

/// What is compared.
#[derive(Debug, Clone, Copy)]
pub(super) enum Compared {
    Words { a: Source, b: Source, signed: bool },
    Pairs { a: PairSource, b: PairSource, signed: bool },
}

/// How a minimum or maximum of lanes is taken.
#[derive(Debug, Clone, Copy)]
pub(super) struct Choice {
    pub(super) lanes: Lanes,
    /// The minimum if true, else the maximum.
    pub(super) minimum: Test,
    /// `.RELU`: negative results become 0.
    pub(super) relu: bool,
}

/// How a shift is done. The word or pair shifted is `high:low`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shift {
    pub(super) left: bool,
    /// To the right: whether the sign comes in.
    pub(super) signed: bool,
    /// 32 or 64: the greatest amount, and what amounts are taken modulo where they wrap.
    pub(super) bits: u32,
    pub(super) wraps: bool,
    /// Whether the upper word of the result is wanted, not the lower.
    pub(super) upper: bool,
}

/// What one machine instruction does. `·`, `+` and `-` are exact; words and lanes take the lower bits of the result.
#[derive(Debug, Clone, Copy)]
pub(super) enum Operation {
    /// d = a.
    Move { d: Slot, a: Source },
    /// d = a if the test holds, else b.
    Select { d: Slot, a: Source, b: Source, test: Test },
    /// d = |a|.
    Absolute { d: Slot, a: Source },
    /// Byte i of d is the byte of b:a that nibble i of the selector numbers, or that byte's sign eight times if the
    /// nibble's upper bit is set.
    Permute { d: Slot, a: Source, selector: Source, b: Source },
    /// Bit by bit: d is bit 4a + 2b + c of the table. p tells whether d is not 0.
    Logic { d: Slot, p: Slot, a: Source, b: Source, c: Source, table: u8 },
    /// p is bit 4a + 2b + c of the table.
    LogicOfTests { p: Slot, a: Test, b: Test, c: Test, table: u8 },
    /// d = a·b + c + carry.
    MultiplyAdd { d: Slot, a: Source, b: Source, c: Source, carry: Test },
    /// d = a·b + c, where c and d have 64 bits.
    MultiplyAddPair { d: Pair, a: Source, b: Source, c: PairSource, signed: bool },
    /// d = a + b + c + carries; the first predicate tells whether that reaches 2^32, the second whether 2·2^32.
    Add { d: Slot, carries: [Slot; 2], terms: [Source; 3], carried: [Test; 2] },
    /// d = a + b, of 64 bits.
    AddPair { d: Pair, a: PairSource, b: PairSource },
    /// d = ±a ± b in each lane, clamped to the lane's range if it saturates.
    AddLanes { d: Slot, a: Source, b: Source, lanes: Lanes, saturates: bool },
    /// d = the lesser or greater of a and b in each lane.
    MinMax { d: Slot, a: Source, b: Source, choice: Choice },
    /// d = the least or greatest of a, b and c in each lane.
    MinMax3 { d: Slot, a: Source, b: Source, c: Source, choice: Choice },
    /// d = the lesser or greater of a + b, which wraps, and c in each lane.
    AddMinMax { d: Slot, a: Source, b: Source, c: Source, choice: Choice },
    /// d = the lesser or greater of a and b, of 64 bits.
    MinMaxPair { d: Pair, a: PairSource, b: PairSource, minimum: Test, signed: bool },
    /// p = the comparison, joined to `with`. `low` makes it the upper half of a wider comparison: where the halves are
    /// equal, the lower half's result decides.
    Compare { p: Slot, compared: Compared, comparison: Comparison, low: Option<Test>, join: Join, with: Test },
    /// d = a word of high:low, shifted by the amount.
    Shift { d: Slot, low: Source, amount: Source, high: Source, shift: Shift },
    /// d = a word of (high:low << amount) + addend + carry. Without `high`, low's sign stands there.
    ShiftAdd { d: Slot, low: Source, addend: Source, high: Option<Source>, amount: u32, upper: bool, carry: Test },
    /// d = the lower bits of a, as many as `width` says, 32 at most, extended to the word.
    Extend { d: Slot, a: Source, width: Source, signed: bool },
    /// d = a, signed, clamped to a lane's range.
    Saturate { d: Slot, a: Source, lanes: Lanes },
    /// d = a and b, both signed and clamped to a lane's range, as lanes 1 and 0; above them, c.
    SaturateAndPack { d: Slot, a: Source, b: Source, c: Source, lanes: Lanes },
    /// d = |a - b| + c.
    AbsoluteDifference { d: Slot, a: Source, b: Source, c: Source, signed: bool },
    /// d = |a - b| in each byte; with c the sum of these and c.
    AbsoluteDifferenceOfBytes { d: Slot, a: Source, b: Source, c: Option<Source>, signed: bool },
    /// d = the sum of the products of a's lanes and b's, from b's lane `first` on, and c.
    DotProduct { d: Slot, a: Source, b: Source, c: Source, a_lanes: Lanes, b_lanes: Lanes, first: u32 },
    /// d = the word of memory at the address plus 4·index.
    Load { d: Slot, address: Pair, index: usize },
    /// The word of memory at the address plus 12 becomes a.
    Store { address: Pair, a: Source },
}

/// The state while code runs: slots, and the four words of memory that the kernel's parameter points to.
pub(super) struct Machine {
    slots: Vec<u32>,
    inputs: [u32; 3],
    /// The word after the inputs, once it is written.
    pub(super) result: Option<u32>,
}

impl Machine {
    pub(super) fn new(slots: Vec<u32>, inputs: [u32; 3]) -> Machine {
        Machine { slots, inputs, result: None }
    }

    #[inline]
    fn slot(&self, slot: Slot) -> u32 {
        self.slots[usize::from(slot)]
    }

    #[inline]
    fn word(&self, source: Source) -> u32 {
        let value = self.slot(source.slot);
        match source.modifier {
            Modifier::Plain => value,
            Modifier::Negated => value.wrapping_neg(),
            Modifier::Inverted => !value,
        }
    }

    /// A word as an exact number.
    #[inline]
    fn number(&self, source: Source, signed: bool) -> i64 {
        let word = self.word(source);
        if signed { i64::from(word as i32) } else { i64::from(word) }
    }

    /// A term of a sum whose carry counts: a negated one is its complement and 1.
    #[inline]
    fn term(&self, source: Source) -> u64 {
        match source.modifier {
            Modifier::Negated => u64::from(!self.slot(source.slot)) + 1,
            _ => u64::from(self.word(source)),
        }
    }

    #[inline]
    fn pair(&self, source: PairSource) -> u64 {
        let value = u64::from(self.slot(source.pair.high)) << 32 | u64::from(self.slot(source.pair.low));
        if source.negated { value.wrapping_neg() } else { value }
    }

    /// A pair as an exact number.
    #[inline]
    fn long_number(&self, source: PairSource, signed: bool) -> i128 {
        let pair = self.pair(source);
        if signed { i128::from(pair as i64) } else { i128::from(pair) }
    }

    /// A lane, negated by itself.
    #[inline]
    fn lane(&self, source: Source, lanes: Lanes, lane: u32) -> i64 {
        let value = lanes.get(self.slot(source.slot), lane);
        if source.modifier == Modifier::Negated { -value } else { value }
    }

    #[inline]
    pub(super) fn test(&self, test: Test) -> bool {
        let value = self.slot(test.slot);
        (if test.sign { (value as i32) < 0 } else { value != 0 }) != test.negated
    }

    #[inline]
    fn set(&mut self, slot: Slot, value: u32) {
        self.slots[usize::from(slot)] = value;
    }

    #[inline]
    fn set_pair(&mut self, pair: Pair, value: u64) {
        self.set(pair.low, value as u32);
        self.set(pair.high, (value >> 32) as u32);
    }

    /// The kernel's pointer is 0, and so is its thread: an address must be 0 when all arithmetic on it is done.
    fn check(&self, address: Pair) -> Result<(), &'static str> {
        match self.slot(address.low) | self.slot(address.high) {
            0 => Ok(()),
            _ => Err("the address is not the one that the kernel was given"),
        }
    }
}

impl Choice {
    fn of(self, m: &Machine, values: impl Fn(u32) -> [i64; 2]) -> u32 {
        let minimum = m.test(self.minimum);
        self.lanes.build(|lane| {
            let [x, y] = values(lane);
            let chosen = if minimum { x.min(y) } else { x.max(y) };
            if self.relu { chosen.max(0) } else { chosen }
        })
    }
}

impl Operation {
    /// Does it, or says what about these inputs the machine's rules leave open.
    #[inline]
    pub(super) fn execute(&self, m: &mut Machine) -> Result<(), &'static str> {
        match *self {
            Operation::Move { d, a } => m.set(d, m.word(a)),
            Operation::Select { d, a, b, test } => m.set(d, if m.test(test) { m.word(a) } else { m.word(b) }),
            Operation::Absolute { d, a } => m.set(d, (m.word(a) as i32).unsigned_abs()),
            Operation::Permute { d, a, selector, b } => m.set(d, permute(m.word(a), m.word(b), m.word(selector))),
            Operation::Logic { d, p, a, b, c, table } => {
                let value = look_up(table, m.word(a), m.word(b), m.word(c));
                m.set(d, value);
                m.set(p, u32::from(value != 0));
            }
            Operation::LogicOfTests { p, a, b, c, table } => {
                let [a, b, c] = [a, b, c].map(|test| u32::from(m.test(test)));
                m.set(p, u32::from(table) >> (4 * a + 2 * b + c) & 1);
            }
            Operation::MultiplyAdd { d, a, b, c, carry } => {
                let sum = m.word(a).wrapping_mul(m.word(b)).wrapping_add(m.word(c));
                m.set(d, sum.wrapping_add(u32::from(m.test(carry))));
            }
            Operation::MultiplyAddPair { d, a, b, c, signed } => {
                let product = m.number(a, signed).wrapping_mul(m.number(b, signed)) as u64;
                m.set_pair(d, product.wrapping_add(m.pair(c)));
            }
            Operation::Add { d, carries, terms, carried } => {
                let sum = terms.iter().map(|&term| m.term(term)).sum::<u64>()
                    + carried.iter().map(|&test| u64::from(m.test(test))).sum::<u64>();
                let carry = sum >> 32;
                if carry > 1 && carries[0] != SINK && carries[1] == SINK {
                    return Err("two carries arise, and one predicate is there to take them");
                }
                m.set(d, sum as u32);
                m.set(carries[0], u32::from(carry >= 1));
                m.set(carries[1], u32::from(carry >= 2));
            }
            Operation::AddPair { d, a, b } => m.set_pair(d, m.pair(a).wrapping_add(m.pair(b))),
            Operation::AddLanes { d, a, b, lanes, saturates } => {
                let value = lanes.build(|i| {
                    let sum = m.lane(a, lanes, i) + m.lane(b, lanes, i);
                    if saturates { lanes.clamp(sum) } else { sum }
                });
                m.set(d, value);
            }
            Operation::MinMax { d, a, b, choice } => {
                let (a, b) = (m.word(a), m.word(b));
                m.set(d, choice.of(m, |i| [choice.lanes.get(a, i), choice.lanes.get(b, i)]));
            }
            Operation::MinMax3 { d, a, b, c, choice } => {
                let (a, b, c) = (m.word(a), m.word(b), m.word(c));
                let first = choice.of(m, |i| [choice.lanes.get(a, i), choice.lanes.get(b, i)]);
                m.set(d, choice.of(m, |i| [choice.lanes.get(first, i), choice.lanes.get(c, i)]));
            }
            Operation::AddMinMax { d, a, b, c, choice } => {
                let (lanes, c) = (choice.lanes, m.word(c));
                let sum = lanes.build(|i| m.lane(a, lanes, i) + m.lane(b, lanes, i));
                m.set(d, choice.of(m, |i| [lanes.get(sum, i), lanes.get(c, i)]));
            }
            Operation::MinMaxPair { d, a, b, minimum, signed } => {
                let (a, b) = (m.long_number(a, signed), m.long_number(b, signed));
                m.set_pair(d, if m.test(minimum) { a.min(b) } else { a.max(b) } as u64);
            }
            Operation::Compare { p, compared, comparison, low, join, with } => {
                let order = match compared {
                    Compared::Words { a, b, signed } => m.number(a, signed).cmp(&m.number(b, signed)),
                    Compared::Pairs { a, b, signed } => m.long_number(a, signed).cmp(&m.long_number(b, signed)),
                };
                let holds = match low {
                    Some(low) if order.is_eq() => m.test(low),
                    _ => comparison.holds(order),
                };
                let with = m.test(with);
                let value = match join {
                    Join::And => holds & with,
                    Join::Or => holds | with,
                    Join::Xor => holds ^ with,
                };
                m.set(p, u32::from(value));
            }
            Operation::Shift { d, low, amount, high, shift } => {
                let wide = u64::from(m.word(high)) << 32 | u64::from(m.word(low));
                let amount = m.word(amount);
                let amount = if shift.wraps { amount % shift.bits } else { amount.min(shift.bits) };
                let shifted = match (shift.left, shift.signed) {
                    (true, _) => wide.checked_shl(amount).unwrap_or(0),
                    (false, false) => wide.checked_shr(amount).unwrap_or(0),
                    (false, true) => (wide as i64 >> amount.min(63)) as u64,
                };
                m.set(d, if shift.upper { (shifted >> 32) as u32 } else { shifted as u32 });
            }
            Operation::ShiftAdd { d, low, addend, high, amount, upper, carry } => {
                let low = m.word(low);
                let high = high.map_or((low as i32 >> 31) as u32, |high| m.word(high));
                let shifted = (u64::from(high) << 32 | u64::from(low)) << amount;
                let word = if upper { (shifted >> 32) as u32 } else { shifted as u32 };
                m.set(d, word.wrapping_add(m.word(addend)).wrapping_add(u32::from(m.test(carry))));
            }
            Operation::Extend { d, a, width, signed } => {
                let value = match m.word(width).min(32) {
                    0 => 0,
                    bits => Lanes::new(bits, signed).get(m.word(a), 0),
                };
                m.set(d, value as u32);
            }
            Operation::Saturate { d, a, lanes } => m.set(d, lanes.clamp(m.number(a, true)) as u32),
            Operation::SaturateAndPack { d, a, b, c, lanes } => {
                let (a, b, c) = (m.number(a, true), m.number(b, true), m.word(c));
                let packed = lanes.build(|lane| match lane {
                    0 => lanes.clamp(b),
                    1 => lanes.clamp(a),
                    _ => 0,
                });
                m.set(d, packed | c.checked_shl(2 * lanes.bits).unwrap_or(0));
            }
            Operation::AbsoluteDifference { d, a, b, c, signed } => {
                let difference = (m.number(a, signed) - m.number(b, signed)).abs();
                m.set(d, (difference as u32).wrapping_add(m.word(c)));
            }
            Operation::AbsoluteDifferenceOfBytes { d, a, b, c, signed } => {
                let (a, b, lanes) = (m.word(a), m.word(b), Lanes::new(8, signed));
                let difference = |i| (lanes.get(a, i) - lanes.get(b, i)).abs();
                let value = match c {
                    None => lanes.build(difference),
                    Some(c) => m.word(c).wrapping_add((0..4).map(difference).sum::<i64>() as u32),
                };
                m.set(d, value);
            }
            Operation::DotProduct { d, a, b, c, a_lanes, b_lanes, first } => {
                let (a, b) = (m.word(a), m.word(b));
                let product = |i| a_lanes.get(a, i) * b_lanes.get(b, first + i);
                let sum = (0..a_lanes.count()).map(product).sum::<i64>();
                m.set(d, m.word(c).wrapping_add(sum as u32));
            }
            Operation::Load { d, address, index } => {
                m.check(address)?;
                m.set(d, m.inputs[index]);
            }
            Operation::Store { address, a } => {
                m.check(address)?;
                m.result = Some(m.word(a));
            }
        }
        Ok(())
    }
}

fn permute(a: u32, b: u32, selector: u32) -> u32 {
    let bytes = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |word, i| {
        let nibble = selector >> (4 * i) & 15;
        let byte = (bytes >> (8 * (nibble & 7))) as u8;
        let byte = if nibble & 8 == 0 { byte } else { (byte as i8 >> 7) as u8 };
        word | u32::from(byte) << (8 * i)
    })
}

/// All 32 look-ups at once: c chooses between two entries of the table, b between two such choices, a between those.
fn look_up(table: u8, a: u32, b: u32, c: u32) -> u32 {
    let choose = |which: u32, zero: u32, one: u32| (!which & zero) | (which & one);
    let entry = |i: u32| 0u32.wrapping_sub(u32::from(table) >> i & 1);
    let by_c = |i| choose(c, entry(i), entry(i + 1));
    let by_b = |i| choose(b, by_c(i), by_c(i + 2));
    choose(a, by_b(0), by_b(4))
}
