//! Machine code of x86-64, as far as the templates need it: vector instructions in the encodings EVEX and VEX, and a few of general
//! registers. Source: Intel's Software Developer's Manual, volume 2, "Intel AVX Encoding" and "Intel AVX-512 Encoding".
//!
//! An assembler as a library would be built with the crate by everybody, for three shapes of instructions; see
//! docs/decisions/0045-runs-as-machine-code.md.

/// A vector instruction: what the encodings have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct Code {
    /// 1 is `0F`, 2 is `0F38`, 3 is `0F3A`.
    map: u8,
    /// 0 is none, 1 is `66`, 2 is `F3`, 3 is `F2`.
    prefix: u8,
    w: bool,
    byte: u8,
}

/// `map.prefix.W opcode`.
pub(super) const fn code(map: u8, prefix: u8, w: u8, byte: u8) -> Code {
    Code { map, prefix, w: w != 0, byte }
}

/// The length of vectors in an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    Bits128,
    Bits256,
    Bits512,
}

/// A general register, by its number. `R12` cannot be a base here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum General {
    Rax = 0,
    Rcx = 1,
    Rdx = 2,
    /// These three belong to the caller: a function saves them.
    Rbx = 3,
    Rsp = 4,
    Rbp = 5,
    Rsi = 6,
    Rdi = 7,
    R8 = 8,
    R9 = 9,
    R10 = 10,
    R11 = 11,
    /// As the three.
    R12 = 12,
    R13 = 13,
    R14 = 14,
    R15 = 15,
}

/// Conditions of jumps, as the code has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    Zero = 0x84,
    NotZero = 0x85,
    /// Of unsigned numbers; also where a carry is set.
    Below = 0x82,
    NotBelow = 0x83,
}

/// The last operand: a vector or mask register by its number, or memory at a general register plus a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Register(u8),
    Memory(General, i32),
    /// Memory of one element, which every element of the instruction reads.
    Broadcast(General, i32),
    /// The constant of this number, likewise.
    Constant(u16),
    /// The constant vector of this number.
    Vector(u16),
    /// The table of this number.
    Table(u16),
    /// Memory at a general register plus, for each element, a word of a vector register, plus a distance. Instructions that do not gather take
    /// the number as that of another general register.
    Gathered(General, u8, i32),
}

/// What an instruction with a mask does with elements outside it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mask {
    /// The mask register; 0 stands for all elements.
    pub(super) register: u8,
    /// Elements outside the mask become zero, instead of staying.
    pub(super) zeroes: bool,
}

impl Mask {
    pub(super) const ALL: Mask = Mask { register: 0, zeroes: false };

    pub(super) fn keeping(register: u8) -> Mask {
        Mask { register, zeroes: false }
    }

    pub(super) fn zeroing(register: u8) -> Mask {
        Mask { register, zeroes: true }
    }
}

/// A place in the code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place(usize);

/// A jump whose target is not known yet: where it ends.
#[derive(Debug)]
#[must_use]
pub(super) struct Jump(usize);

/// Places from here on are in the code that is seldom executed, until the function ends.
const SELDOM: usize = 1 << 30;

#[derive(Debug)]
pub(super) struct Assembler {
    pub(super) bytes: Vec<u8>,
    /// Code of the function that is being written that is seldom executed: [`Assembler::end`] puts it behind the other one. So what is often
    /// executed has no holes, and its jumps are mostly not taken.
    seldom: Vec<u8>,
    /// Whether what is written from here on is seldom executed. Nothing falls through from one to the other.
    pub(super) writes_seldom: bool,
    /// Jumps between the two: where they end, and where they go to.
    between: Vec<(usize, usize)>,
    /// Words of a vector register.
    words: usize,
    /// Whether the encoding is EVEX, whose instructions repeat one element in memory for all elements.
    evex: bool,
    /// The constants of the function that is being written: eight bytes each, as words and as doubles read them.
    constants: Vec<u64>,
    vectors: Vec<[u32; 16]>,
    tables: Vec<Vec<u32>>,
    /// Where the code names constants: the place of the distance, the end of the instruction after it, and the constant.
    named: Vec<(usize, usize, Operand)>,
}

impl Assembler {
    pub(super) fn new(words: usize, evex: bool) -> Assembler {
        Assembler {
            bytes: Vec::new(),
            seldom: Vec::new(),
            writes_seldom: false,
            between: Vec::new(),
            words,
            evex,
            constants: Vec::new(),
            vectors: Vec::new(),
            tables: Vec::new(),
            named: Vec::new(),
        }
    }

    pub(super) fn here(&self) -> Place {
        Place(self.position())
    }

    fn position(&self) -> usize {
        if self.writes_seldom { SELDOM + self.seldom.len() } else { self.bytes.len() }
    }

    fn put(&mut self, bytes: &[u8]) {
        let to = if self.writes_seldom { &mut self.seldom } else { &mut self.bytes };
        to.extend_from_slice(bytes);
    }

    /// Sets the distance that a jump, which ends at a place, ends with.
    fn set_distance(&mut self, end: usize, to: usize) {
        if (end < SELDOM) != (to < SELDOM) {
            return self.between.push((end, to));
        }
        let (bytes, at) = match end.checked_sub(SELDOM) {
            Some(at) => (&mut self.seldom, at),
            None => (&mut self.bytes, end),
        };
        let distance = to as i64 - end as i64;
        bytes[at - 4..at].copy_from_slice(&(distance as i32).to_le_bytes());
    }

    /// The end of an instruction whose value is extended by its sign: one byte if that suffices. `byte` is the opcode with four bytes.
    fn general_by(&mut self, byte: u8, wide: bool, operation: u8, operand: Operand, value: i32) {
        match i8::try_from(value) {
            Ok(value) => {
                self.general(byte | 2, wide, operation, operand);
                self.put(&value.to_le_bytes());
            }
            Err(_) => {
                self.general(byte, wide, operation, operand);
                self.put(&value.to_le_bytes());
            }
        }
    }

    /// A constant of words.
    pub(super) fn word(&mut self, value: u32) -> Operand {
        match self.evex {
            true => self.constant(u64::from(value)),
            false => self.vector([value; 16]),
        }
    }

    /// A constant of doubles.
    pub(super) fn constant(&mut self, value: u64) -> Operand {
        if !self.evex {
            return self.vector(std::array::from_fn(|i| (value >> (i % 2 * 32)) as u32));
        }
        let found = self.constants.iter().position(|constant| *constant == value);
        Operand::Constant(found.unwrap_or_else(|| {
            self.constants.push(value);
            self.constants.len() - 1
        }) as u16)
    }

    /// A constant vector of words, as many as a register has.
    pub(super) fn vector(&mut self, words: [u32; 16]) -> Operand {
        let found = self.vectors.iter().position(|vector| *vector == words);
        Operand::Vector(found.unwrap_or_else(|| {
            self.vectors.push(words);
            self.vectors.len() - 1
        }) as u16)
    }

    /// The address of words that the function keeps: `lea`.
    pub(super) fn table_address(&mut self, to: General, words: &[u32]) {
        let found = self.tables.iter().position(|table| table == words);
        let table = found.unwrap_or_else(|| {
            self.tables.push(words.to_vec());
            self.tables.len() - 1
        });
        self.general(0x8d, true, to as u8, Operand::Table(table as u16));
    }

    /// The bytes that name registers, and the distance of memory. `short` says whether a distance of one byte counts bytes: in the encoding EVEX
    /// it does not.
    fn operand(&mut self, reg: u8, operand: Operand, short: bool) {
        let reg = (reg & 7) << 3;
        // How many bytes a distance takes, and what the first byte says of it. Without a distance, two registers would say something else.
        let size = |base: General, distance: i32| match i8::try_from(distance) {
            Ok(0) if base as u8 & 7 != 5 => (0, 0),
            Ok(_) if short => (1, 0x40),
            _ => (4, 0x80),
        };
        match operand {
            Operand::Register(rm) => self.put(&[0xc0 | reg | rm & 7]),
            Operand::Memory(base, distance) | Operand::Broadcast(base, distance) => {
                let (size, says) = size(base, distance);
                self.put(&[says | reg | base as u8 & 7]);
                // The stack pointer takes a byte for an index, here none.
                if base == General::Rsp {
                    self.put(&[0x24]);
                }
                self.put(&distance.to_le_bytes()[..size]);
            }
            Operand::Gathered(base, index, distance) => {
                let (size, says) = size(base, distance);
                self.put(&[says | reg | 4, (index & 7) << 3 | base as u8 & 7]);
                self.put(&distance.to_le_bytes()[..size]);
            }
            Operand::Constant(_) | Operand::Vector(_) | Operand::Table(_) => {
                self.put(&[reg | 5, 0, 0, 0, 0]);
                let end = self.position();
                self.named.push((end - 4, end, operand));
            }
        }
    }

    /// An instruction in the encoding EVEX: `reg` is mostly the destination, `second` the first source (0 if there is none).
    pub(super) fn evex(&mut self, code: Code, length: Length, reg: u8, second: u8, operand: Operand, mask: Mask) {
        debug_assert!(self.evex, "the processor may have no such encoding");
        let inverted = |bit: u8, place: u8| (bit & 1 ^ 1) << place;
        let (b, x) = match operand {
            Operand::Register(rm) => (rm >> 3, rm >> 4),
            Operand::Memory(base, _) | Operand::Broadcast(base, _) => (base as u8 >> 3, 0),
            Operand::Gathered(base, index, _) => (base as u8 >> 3, index >> 3),
            Operand::Constant(_) | Operand::Vector(_) | Operand::Table(_) => (0, 0),
        };
        // The fifth bit of an index is where that of the second operand is, which a gather has not.
        let second = if let Operand::Gathered(_, index, _) = operand { index & 16 } else { second };
        let broadcast = matches!(operand, Operand::Constant(_) | Operand::Broadcast(..));
        let length = match length {
            Length::Bits128 => 0,
            Length::Bits256 => 1,
            Length::Bits512 => 2,
        };
        self.put(&[
            0x62,
            inverted(reg >> 3, 7) | inverted(x, 6) | inverted(b, 5) | inverted(reg >> 4, 4) | code.map,
            u8::from(code.w) << 7 | (!second & 15) << 3 | 4 | code.prefix,
            u8::from(mask.zeroes) << 7
                | length << 5
                | u8::from(broadcast) << 4
                | inverted(second >> 4, 3)
                | mask.register,
            code.byte,
        ]);
        self.operand(reg, operand, false);
    }

    /// An instruction in the encoding VEX, which names vector registers by the low four bits of their numbers. `long` is the bit L: vectors of
    /// 256 bits, or what an instruction of masks asks for.
    pub(super) fn vex(&mut self, code: Code, long: bool, reg: u8, second: u8, operand: Operand) {
        let inverted = |bit: u8, place: u8| (bit & 1 ^ 1) << place;
        let (b, x) = match operand {
            Operand::Register(rm) => (rm >> 3, 0),
            Operand::Memory(base, _) | Operand::Broadcast(base, _) => (base as u8 >> 3, 0),
            Operand::Gathered(base, index, _) => (base as u8 >> 3, index >> 3),
            Operand::Constant(_) | Operand::Vector(_) | Operand::Table(_) => (0, 0),
        };
        self.put(&[
            0xc4,
            inverted(reg >> 3, 7) | inverted(x, 6) | inverted(b, 5) | code.map,
            u8::from(code.w) << 7 | (!second & 15) << 3 | u8::from(long) << 2 | code.prefix,
            code.byte,
        ]);
        self.operand(reg, operand, true);
    }

    /// The byte that ends an instruction with an immediate.
    pub(super) fn immediate(&mut self, byte: u8) {
        let position = self.position();
        if let Some((_, end, _)) = self.named.last_mut()
            && *end == position
        {
            *end += 1;
        }
        self.put(&[byte]);
    }

    /// `mov to, [base + distance]`, 64 bits.
    pub(super) fn load(&mut self, to: General, base: General, distance: i32) {
        self.put(&[0x48 | (to as u8 >> 3) << 2 | base as u8 >> 3, 0x8b]);
        self.operand(to as u8, Operand::Memory(base, distance), true);
    }

    /// `add to, value`, 64 bits.
    pub(super) fn add(&mut self, to: General, value: i32) {
        self.general_by(0x81, true, 0, Operand::Register(to as u8), value);
    }

    /// `add to, 0`, 64 bits, whose value [`patch`](Self::patch) sets.
    pub(super) fn add_later(&mut self, to: General) {
        self.general(0x81, true, 0, Operand::Register(to as u8));
        self.put(&[0; 4]);
    }

    /// `sub to, 1`, 64 bits, which sets the flags.
    pub(super) fn decrement(&mut self, to: General) {
        self.put(&[0x48 | to as u8 >> 3, 0x83, 0xe8 | to as u8 & 7, 1]);
    }

    /// Jumps to a place behind if the last result was so.
    pub(super) fn jump_back_if(&mut self, condition: Condition, to: Place) {
        self.put(&[0x0f, condition as u8, 0, 0, 0, 0]);
        self.set_distance(self.position(), to.0);
    }

    /// Jumps to a place behind.
    pub(super) fn jump_back(&mut self, to: Place) {
        self.put(&[0xe9, 0, 0, 0, 0]);
        self.set_distance(self.position(), to.0);
    }

    /// Jumps ahead if the last result was so.
    pub(super) fn jump_if(&mut self, condition: Condition) -> Jump {
        self.put(&[0x0f, condition as u8, 0, 0, 0, 0]);
        Jump(self.position())
    }

    /// Jumps ahead.
    pub(super) fn jump(&mut self) -> Jump {
        self.put(&[0xe9, 0, 0, 0, 0]);
        Jump(self.position())
    }

    /// `sub qword [base + distance], 1`, which sets the flags.
    pub(super) fn decrement_at(&mut self, base: General, distance: i32) {
        self.general_by(0x81, true, 5, Operand::Memory(base, distance), 1);
    }

    /// An instruction of general registers, whose first operand is `reg` or an operation; of 64 bits if it is `wide`.
    fn general(&mut self, byte: u8, wide: bool, reg: u8, operand: Operand) {
        let b = match operand {
            Operand::Register(rm) => rm >> 3,
            Operand::Memory(base, _) => base as u8 >> 3,
            _ => 0,
        };
        self.put(&[0x40 | u8::from(wide) << 3 | reg >> 3 << 2 | b, byte]);
        self.operand(reg, operand, true);
    }

    /// `mov to, [base + index * scale + distance]`, of 32 or 64 bits; the scale is 1, 2, 4 or 8.
    pub(super) fn load_element(
        &mut self,
        to: General,
        base: General,
        index: General,
        scale: u32,
        distance: i32,
        wide: bool,
    ) {
        let rex = 0x40 | u8::from(wide) << 3 | to as u8 >> 3 << 2 | index as u8 >> 3 << 1 | base as u8 >> 3;
        let scale = scale.trailing_zeros() as u8;
        self.put(&[rex, 0x8b, 0x84 | (to as u8 & 7) << 3, scale << 6 | (index as u8 & 7) << 3 | base as u8 & 7]);
        self.put(&distance.to_le_bytes());
    }

    /// `mov to, from`, 64 bits.
    pub(super) fn copy(&mut self, to: General, from: General) {
        self.general(0x8b, true, to as u8, Operand::Register(from as u8));
    }

    /// `mov to, value`, 64 bits.
    pub(super) fn set(&mut self, to: General, value: u64) {
        self.put(&[0x48 | to as u8 >> 3, 0xb8 | to as u8 & 7]);
        self.put(&value.to_le_bytes());
    }

    /// `add to, [base + distance]`, 64 bits.
    pub(super) fn add_memory(&mut self, to: General, base: General, distance: i32) {
        self.general(0x03, true, to as u8, Operand::Memory(base, distance));
    }

    /// `sub to, [base + distance]`, 64 bits.
    pub(super) fn subtract_memory(&mut self, to: General, base: General, distance: i32) {
        self.general(0x2b, true, to as u8, Operand::Memory(base, distance));
    }

    /// `cmp a, [base + distance]`, 64 bits.
    pub(super) fn compare_memory(&mut self, a: General, base: General, distance: i32) {
        self.general(0x3b, true, a as u8, Operand::Memory(base, distance));
    }

    /// `test qword [base + distance], a`.
    pub(super) fn test_memory(&mut self, a: General, base: General, distance: i32) {
        self.general(0x85, true, a as u8, Operand::Memory(base, distance));
    }

    /// `cmp qword [base + distance], value`, of a value that is extended by its sign.
    pub(super) fn compare_at(&mut self, base: General, distance: i32, value: i32) {
        self.general_by(0x81, true, 7, Operand::Memory(base, distance), value);
    }

    /// `mov qword [base + distance], value`, of a value that is extended by its sign.
    pub(super) fn set_at(&mut self, base: General, distance: i32, value: i32) {
        self.general(0xc7, true, 0, Operand::Memory(base, distance));
        self.put(&value.to_le_bytes());
    }

    /// `add qword [base + distance], value`, which sets the flags.
    pub(super) fn add_at(&mut self, base: General, distance: i32, value: i32) {
        self.general_by(0x81, true, 0, Operand::Memory(base, distance), value);
    }

    /// `add [base + distance], from`, 64 bits.
    pub(super) fn add_to(&mut self, from: General, base: General, distance: i32) {
        self.general(0x01, true, from as u8, Operand::Memory(base, distance));
    }

    /// `or [base + distance], from`, 64 bits.
    pub(super) fn or_to(&mut self, from: General, base: General, distance: i32) {
        self.general(0x09, true, from as u8, Operand::Memory(base, distance));
    }

    /// `and a, b` and `xor a, b`, 64 bits.
    pub(super) fn and_general(&mut self, a: General, b: General) {
        self.general(0x23, true, a as u8, Operand::Register(b as u8));
    }

    pub(super) fn xor_general(&mut self, a: General, b: General) {
        self.general(0x33, true, a as u8, Operand::Register(b as u8));
    }

    /// `xor a, value`, 64 bits, of a value that is extended by its sign.
    pub(super) fn xor(&mut self, a: General, value: i32) {
        self.general_by(0x81, true, 6, Operand::Register(a as u8), value);
    }

    /// `lea to, [base + distance]`.
    pub(super) fn address(&mut self, to: General, base: General, distance: i32) {
        self.general(0x8d, true, to as u8, Operand::Memory(base, distance));
    }

    /// `popcnt to, a`, 64 bits.
    pub(super) fn count_ones(&mut self, to: General, a: General) {
        self.put(&[0xf3, 0x48 | to as u8 >> 3 << 2 | a as u8 >> 3, 0x0f, 0xb8]);
        self.operand(to as u8, Operand::Register(a as u8), true);
    }

    /// `popcnt to, [base + distance]`, 64 bits.
    pub(super) fn count_ones_at(&mut self, to: General, base: General, distance: i32) {
        self.put(&[0xf3, 0x48 | to as u8 >> 3 << 2 | base as u8 >> 3, 0x0f, 0xb8]);
        self.operand(to as u8, Operand::Memory(base, distance), true);
    }

    /// `cmp byte [base + distance], 0`.
    pub(super) fn compare_byte_with_zero(&mut self, base: General, distance: i32) {
        self.general(0x80, false, 7, Operand::Memory(base, distance));
        self.put(&[0]);
    }

    /// `tzcnt a, a`, 32 bits.
    pub(super) fn count_zeros(&mut self, a: General) {
        self.put(&[0xf3, 0x40 | (a as u8 >> 3) << 2 | a as u8 >> 3, 0x0f, 0xbc]);
        self.operand(a as u8, Operand::Register(a as u8), true);
    }

    /// `mov to, [base + distance]`, 32 bits: the upper half becomes zero.
    pub(super) fn load_word(&mut self, to: General, base: General, distance: i32) {
        self.general(0x8b, false, to as u8, Operand::Memory(base, distance));
    }

    /// `mov [base + index + distance], from`, of 1, 2, 4 or 8 bytes.
    pub(super) fn store_at(&mut self, from: General, base: General, index: General, distance: i32, bytes: u32) {
        if bytes == 2 {
            self.put(&[0x66]);
        }
        let rex = 0x40 | u8::from(bytes == 8) << 3 | from as u8 >> 3 << 2 | index as u8 >> 3 << 1 | base as u8 >> 3;
        let byte = if bytes == 1 { 0x88 } else { 0x89 };
        self.put(&[rex, byte, 0x84 | (from as u8 & 7) << 3, (index as u8 & 7) << 3 | base as u8 & 7]);
        self.put(&distance.to_le_bytes());
    }

    /// `shr a, by`, 64 bits.
    pub(super) fn shift_right(&mut self, a: General, by: u8) {
        self.general(0xc1, true, 5, Operand::Register(a as u8));
        self.put(&[by]);
    }

    /// `shl a, by`, 64 bits.
    pub(super) fn shift_left(&mut self, a: General, by: u8) {
        self.general(0xc1, true, 4, Operand::Register(a as u8));
        self.put(&[by]);
    }

    /// `cmp a, b`, 64 bits.
    pub(super) fn compare_with(&mut self, a: General, b: General) {
        self.general(0x3b, true, a as u8, Operand::Register(b as u8));
    }

    /// `cmp a, value`, 32 bits.
    pub(super) fn compare(&mut self, a: General, value: u32) {
        self.general_by(0x81, false, 7, Operand::Register(a as u8), value as i32);
    }

    /// `test a, value`, 32 bits.
    pub(super) fn test(&mut self, a: General, value: u32) {
        self.general(0xf7, false, 0, Operand::Register(a as u8));
        self.put(&value.to_le_bytes());
    }

    /// `test a, value`, 64 bits, of a value that is extended by its sign.
    pub(super) fn test_signed(&mut self, a: General, value: i32) {
        self.general(0xf7, true, 0, Operand::Register(a as u8));
        self.put(&value.to_le_bytes());
    }

    /// `add to, from`, of 64 bits, or of 32, which wraps, and the upper half becomes zero.
    pub(super) fn add_general(&mut self, to: General, from: General, wide: bool) {
        self.general(0x03, wide, to as u8, Operand::Register(from as u8));
    }

    /// `add a, value`, 32 bits: it wraps, and the upper half becomes zero.
    pub(super) fn add_word(&mut self, a: General, value: u32) {
        self.general_by(0x81, false, 0, Operand::Register(a as u8), value as i32);
    }

    /// `movsxd a, a`: a word with its sign as 64 bits.
    pub(super) fn extend(&mut self, a: General) {
        self.general(0x63, true, a as u8, Operand::Register(a as u8));
    }

    /// `and a, value`, 64 bits, of a value that is extended by its sign.
    pub(super) fn and(&mut self, a: General, value: i32) {
        self.general_by(0x81, true, 4, Operand::Register(a as u8), value);
    }

    /// `mov [base + distance], from`, 64 bits.
    pub(super) fn keep(&mut self, from: General, base: General, distance: i32) {
        self.general(0x89, true, from as u8, Operand::Memory(base, distance));
    }

    /// `test a, a`, 64 bits.
    pub(super) fn test_self(&mut self, a: General) {
        self.general(0x85, true, a as u8, Operand::Register(a as u8));
    }

    /// Asks for the line at `[base + index]`, to read it or to write it; an address that is no memory does no harm.
    pub(super) fn prefetch(&mut self, base: General, index: General, write: bool) {
        debug_assert!((base as u8) < 8 && (index as u8) < 8, "no prefix is written");
        let code = if write { 0x0d } else { 0x18 };
        self.put(&[0x0f, code, 0x0c, (index as u8) << 3 | base as u8]);
    }

    /// `push`.
    pub(super) fn push(&mut self, register: General) {
        self.put(&[0x40 | register as u8 >> 3, 0x50 | register as u8 & 7]);
    }

    /// `pop`.
    pub(super) fn pop(&mut self, register: General) {
        self.put(&[0x40 | register as u8 >> 3, 0x58 | register as u8 & 7]);
    }

    /// Sets the distance or the value that the last instruction before a place ends with.
    pub(super) fn patch(&mut self, end: Place, value: i32) {
        self.bytes[end.0 - 4..end.0].copy_from_slice(&value.to_le_bytes());
    }

    /// Where a jump goes to: here.
    pub(super) fn land(&mut self, jump: Jump) {
        self.set_distance(jump.0, self.position());
    }

    /// `vzeroupper; ret`: code after this may use older instructions without a penalty.
    pub(super) fn leave(&mut self) {
        self.put(&[0xc5, 0xf8, 0x77, 0xc3]);
    }

    /// Forgets the function that started at a number of bytes.
    pub(super) fn forget(&mut self, start: usize) {
        self.bytes.truncate(start);
        self.seldom.clear();
        self.writes_seldom = false;
        self.between.clear();
        self.constants.clear();
        self.vectors.clear();
        self.tables.clear();
        self.named.clear();
    }

    /// Ends the function: what is seldom executed, its constants, and what fills a line of 64 bytes, with instructions that stop whoever comes
    /// there.
    pub(super) fn end(&mut self) {
        debug_assert!(!self.writes_seldom, "functions end in what is often executed");
        let behind = self.bytes.len();
        self.bytes.append(&mut self.seldom);
        let now = |place: usize| place.checked_sub(SELDOM).map_or(place, |at| behind + at);
        for (end, to) in std::mem::take(&mut self.between) {
            self.set_distance(now(end), now(to));
        }
        let start = self.bytes.len().next_multiple_of(64);
        self.bytes.resize(start, 0xcc);
        let words = self.words;
        for word in std::mem::take(&mut self.vectors).iter().flat_map(|vector| &vector[..words]) {
            self.put(&word.to_le_bytes());
        }
        let after = self.bytes.len();
        for constant in std::mem::take(&mut self.constants) {
            self.put(&constant.to_le_bytes());
        }
        let mut tables = Vec::new();
        for table in std::mem::take(&mut self.tables) {
            tables.push(self.bytes.len());
            table.iter().for_each(|word| self.put(&word.to_le_bytes()));
        }
        for (place, end, constant) in std::mem::take(&mut self.named) {
            let at = match constant {
                Operand::Vector(number) => start + usize::from(number) * 4 * self.words,
                Operand::Constant(number) => after + usize::from(number) * 8,
                Operand::Table(number) => tables[usize::from(number)],
                _ => continue,
            };
            let (place, distance) = (now(place), at as i64 - now(end) as i64);
            self.bytes[place..place + 4].copy_from_slice(&(distance as i32).to_le_bytes());
        }
        let end = self.bytes.len().next_multiple_of(64);
        self.bytes.resize(end, 0xcc);
    }
}
