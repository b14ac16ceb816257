//! Machine code of x86-64, as far as the templates need it: vector instructions in the encodings EVEX and VEX, and a few of general
//! registers. Source: Intel's Software Developer's Manual, volume 2, "Intel AVX Encoding" and "Intel AVX-512 Encoding".
//!
//! An assembler as a library would be built with the crate by everybody, for three shapes of instructions; see
//! docs/decisions/0044-runs-as-machine-code.md.

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
    Bits512,
}

/// A general register, by its number. Only those that a function may change, and that need no further byte as a base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum General {
    Rax = 0,
    Rcx = 1,
    Rdx = 2,
    Rsi = 6,
    Rdi = 7,
    R8 = 8,
    R9 = 9,
    R10 = 10,
    R11 = 11,
}

/// The last operand: a vector or mask register by its number, or memory at a general register plus a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operand {
    Register(u8),
    Memory(General, i32),
    /// The constant of this number, which every element of the instruction reads.
    Constant(u16),
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
}

/// A place in the code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place(usize);

/// A jump whose target is not known yet.
#[derive(Debug)]
#[must_use]
pub(super) struct Jump(usize);

#[derive(Debug, Default)]
pub(super) struct Assembler {
    pub(super) bytes: Vec<u8>,
    /// The constants of the function that is being written: eight bytes each, as words and as doubles read them.
    constants: Vec<u64>,
    /// Where the code names constants: the place of the distance, and the end of the instruction after it.
    named: Vec<(usize, usize, u16)>,
}

impl Assembler {
    pub(super) fn here(&self) -> Place {
        Place(self.bytes.len())
    }

    fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// A constant of words, or of doubles.
    pub(super) fn word(&mut self, value: u32) -> Operand {
        self.constant(u64::from(value))
    }

    pub(super) fn constant(&mut self, value: u64) -> Operand {
        let found = self.constants.iter().position(|constant| *constant == value);
        Operand::Constant(found.unwrap_or_else(|| {
            self.constants.push(value);
            self.constants.len() - 1
        }) as u16)
    }

    /// The byte that names registers, and the distance of memory.
    fn operand(&mut self, reg: u8, operand: Operand) {
        let reg = (reg & 7) << 3;
        match operand {
            Operand::Register(rm) => self.put(&[0xc0 | reg | rm & 7]),
            Operand::Memory(base, distance) => {
                self.put(&[0x80 | reg | base as u8 & 7]);
                self.put(&distance.to_le_bytes());
            }
            Operand::Constant(number) => {
                self.put(&[reg | 5, 0, 0, 0, 0]);
                self.named.push((self.bytes.len() - 4, self.bytes.len(), number));
            }
        }
    }

    /// An instruction in the encoding EVEX: `reg` is mostly the destination, `second` the first source (0 if there is none).
    pub(super) fn evex(&mut self, code: Code, length: Length, reg: u8, second: u8, operand: Operand, mask: Mask) {
        let inverted = |bit: u8, place: u8| (bit & 1 ^ 1) << place;
        let (b, x) = match operand {
            Operand::Register(rm) => (rm >> 3, rm >> 4),
            Operand::Memory(base, _) => (base as u8 >> 3, 0),
            Operand::Constant(_) => (0, 0),
        };
        let broadcast = matches!(operand, Operand::Constant(_));
        let length = match length {
            Length::Bits128 => 0,
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
        self.operand(reg, operand);
    }

    /// An instruction in the encoding VEX. `long` is the bit L: vectors of 256 bits, or what an instruction of masks asks for.
    pub(super) fn vex(&mut self, code: Code, long: bool, reg: u8, second: u8, operand: Operand) {
        let inverted = |bit: u8, place: u8| (bit & 1 ^ 1) << place;
        let b = match operand {
            Operand::Register(rm) => rm >> 3,
            Operand::Memory(base, _) => base as u8 >> 3,
            Operand::Constant(_) => 0,
        };
        self.put(&[
            0xc4,
            inverted(reg >> 3, 7) | 1 << 6 | inverted(b, 5) | code.map,
            u8::from(code.w) << 7 | (!second & 15) << 3 | u8::from(long) << 2 | code.prefix,
            code.byte,
        ]);
        self.operand(reg, operand);
    }

    /// The byte that ends an instruction with an immediate.
    pub(super) fn immediate(&mut self, byte: u8) {
        if let Some((_, end, _)) = self.named.last_mut()
            && *end == self.bytes.len()
        {
            *end += 1;
        }
        self.put(&[byte]);
    }

    /// `mov to, [base + distance]`, 64 bits.
    pub(super) fn load(&mut self, to: General, base: General, distance: i32) {
        self.put(&[0x48 | (to as u8 >> 3) << 2 | base as u8 >> 3, 0x8b]);
        self.operand(to as u8, Operand::Memory(base, distance));
    }

    /// `add to, value`, 64 bits.
    pub(super) fn add(&mut self, to: General, value: i32) {
        self.put(&[0x48 | to as u8 >> 3, 0x81, 0xc0 | to as u8 & 7]);
        self.put(&value.to_le_bytes());
    }

    /// `sub to, 1`, 64 bits, which sets the flags.
    pub(super) fn decrement(&mut self, to: General) {
        self.put(&[0x48 | to as u8 >> 3, 0x83, 0xe8 | to as u8 & 7, 1]);
    }

    /// Jumps to a place behind if the last result was not zero.
    pub(super) fn jump_back_unless_zero(&mut self, to: Place) {
        self.put(&[0x0f, 0x85]);
        let distance = to.0 as i64 - (self.bytes.len() as i64 + 4);
        self.put(&(distance as i32).to_le_bytes());
    }

    /// Jumps ahead if the last result was zero.
    pub(super) fn jump_if_zero(&mut self) -> Jump {
        self.put(&[0x0f, 0x84, 0, 0, 0, 0]);
        Jump(self.bytes.len())
    }

    /// Where a jump goes to: here.
    pub(super) fn land(&mut self, jump: Jump) {
        let distance = (self.bytes.len() - jump.0) as u32;
        self.bytes[jump.0 - 4..jump.0].copy_from_slice(&distance.to_le_bytes());
    }

    /// `vzeroupper; ret`: code after this may use older instructions without a penalty.
    pub(super) fn leave(&mut self) {
        self.put(&[0xc5, 0xf8, 0x77, 0xc3]);
    }

    /// Ends the function: its constants, and what fills a line of 64 bytes, with instructions that stop whoever comes there.
    pub(super) fn end(&mut self) {
        let start = self.bytes.len().next_multiple_of(8);
        self.bytes.resize(start, 0xcc);
        for constant in std::mem::take(&mut self.constants) {
            self.put(&constant.to_le_bytes());
        }
        for (place, end, number) in std::mem::take(&mut self.named) {
            let distance = (start + usize::from(number) * 8) as i64 - end as i64;
            self.bytes[place..place + 4].copy_from_slice(&(distance as i32).to_le_bytes());
        }
        let end = self.bytes.len().next_multiple_of(64);
        self.bytes.resize(end, 0xcc);
    }
}
