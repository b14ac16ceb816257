//! What the tests share: the golden data, random inputs, and a second evaluation by the manual.
//!
//! It depends on no other crate of the workspace, so that nothing here can repeat a fault of the library.

pub mod arrays;
pub mod transcription;

/// Facts measured with NVIDIA's own tools; README.md beside the files says how.
pub mod golden {
    /// Texts judged by ptxas 13.5: `OK` or `REJ`, text, ptxas's message. It was given [`REGISTERS`].
    pub const ACCEPT: &str = include_str!("../golden/accept.tsv");
    /// Spellings seen in the wild or in doubt: text, the verdicts of ptxas 13.5, 12.9, 12.0 and 11.8, message.
    pub const SYNTAX_FORMS: &str = include_str!("../golden/syntax-forms.tsv");
    /// Form, a, b, c, d by the manual, d by ptxas's code.
    pub const VALUES: &str = include_str!("../golden/values.tsv");
    /// Form, a, b, c, d on a device, where the row comes from.
    pub const DEVICE: &str = include_str!("../golden/device.tsv");
    /// Opcode, number of its forms, FNV-1a hash of the results of ptxas's code on [`HASHED`](super::HASHED).
    pub const PTXAS_HASHES: &str = include_str!("../golden/ptxas-hashes.tsv");
    /// Form, projects, what for.
    pub const USES: &str = include_str!("../golden/uses.tsv");
    /// Form, and what it costs on each target that the heading names.
    pub const PTXAS_COST: &str = include_str!("../golden/ptxas-cost.tsv");
    /// A function of CUDA C, the form that it equals, and what it costs on each target that the heading names.
    pub const INTRINSICS_COST: &str = include_str!("../golden/intrinsics-cost.tsv");
    /// As `PTXAS_COST`, of other forms, chosen at random, on more targets.
    pub const COST_MORE: &str = include_str!("../golden/cost-more.tsv");

    /// The declarations that `accept.tsv` was judged with.
    pub const REGISTERS: &str =
        ".reg .pred p; .reg .b32 a,b,c,d; .reg .u32 u; .reg .s32 s; .reg .f32 f; .reg .b16 h; .reg .u64 w;";

    /// The declarations that `syntax-forms.tsv` was judged with: every register that its texts name, with the type that the name tells.
    pub const REGISTERS_OF_SYNTAX_FORMS: &str = ".reg .pred p0; .reg .b32 a, b, c, d, %r<5>; .reg .f32 F; .reg .u16 U16; \
         .reg .b64 D64; .reg .s32 SX; .reg .u32 UX; .reg .v4 .u32 V;";

    /// The rows of a file, split at tabs, with the number of their line from 1. Empty lines and a heading are left out.
    pub fn rows(file: &'static str) -> impl Iterator<Item = (usize, Vec<&'static str>)> {
        let rows = file.lines().enumerate().map(|(i, line)| (i + 1, line.split('\t').collect::<Vec<_>>()));
        rows.filter(|(_, row)| !row[0].is_empty() && !["form", "text", "opcode", "intrinsic"].contains(&row[0]))
    }

    /// A register value as the files write it, `0x0000ffff`. The value of `-`, which stands for an operand that the form has
    /// not, is 0.
    pub fn value(text: &str) -> u32 {
        if text == "-" {
            return 0;
        }
        let digits = text.strip_prefix("0x").expect("values are hexadecimal");
        u32::from_str_radix(digits, 16).expect("values have 32 bits")
    }
}

/// A source of inputs, which gives equal numbers for equal states: xorshift64. The state must not be 0.
pub struct Random(pub u64);

impl Random {
    /// The source of a seed, which may be any number. Sources of neighbouring seeds have nothing in common.
    pub fn of(seed: u64) -> Random {
        // The finaliser of MurmurHash3, which maps 0 alone to 0.
        let mut state = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        state = (state ^ state >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
        state = (state ^ state >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
        Random((state ^ state >> 33).max(1))
    }

    /// A number from 0 to `limit - 1`; 0 where `limit` is 0. The upper bits are taken, since the lower ones are less random.
    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 32) as usize % limit.max(1)
    }

    /// One of some values, which must not be empty.
    pub fn pick<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    /// Any 64 bits.
    #[expect(clippy::should_implement_trait, reason = "it has no end")]
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A register value. Half of the values are edge values or consist of bytes that are.
    pub fn value(&mut self) -> u32 {
        const BYTES: [u32; 8] = [0, 1, 0x7e, 0x7f, 0x80, 0x81, 0xfe, 0xff];
        const WORDS: [u32; 16] = [
            0,
            1,
            2,
            31,
            32,
            33,
            0x7f,
            0xff,
            0x7fff,
            0x8000,
            0xffff,
            0x7fff_ffff,
            0x8000_0000,
            0x8000_0001,
            0xffff_fffe,
            u32::MAX,
        ];
        let bits = self.next();
        match bits >> 62 {
            0 => (0..4).fold(0, |word, i| word << 8 | BYTES[(bits >> (8 * i)) as usize % 8]),
            1 => WORDS[bits as usize % 16],
            _ => bits as u32,
        }
    }
}

/// Values of a, b and c, many of which are edge values. Some values of b and c are made from the other operands, so that sums,
/// differences and comparisons meet their edges too.
pub fn edge_rows(random: &mut Random, count: usize) -> Vec<[u32; 3]> {
    let row = || {
        let [a, b, c] = [0; 3].map(|_| random.value());
        match random.next() % 8 {
            0 => [a, a, c],
            1 => [a, !a, c],
            2 => [a, a.wrapping_neg(), c],
            3 => [a, b, a],
            4 => [a, b, a.wrapping_add(b)],
            5 => [a, b, a.wrapping_sub(b)],
            6 => [a, random.value() % 40, c],
            _ => [a, b, c],
        }
    };
    std::iter::repeat_with(row).take(count).collect()
}

/// The seed of [`Random`] and the number of rows of [`edge_rows`] that each hash in `golden/ptxas-hashes.tsv` is made from.
pub const HASHED: (u64, usize) = (0x7061_7478, 200);

/// The 64-bit FNV-1a hash of results, in order.
pub fn fnv1a(results: impl IntoIterator<Item = u32>) -> u64 {
    results
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

/// Rust code in the READMEs of the repository and of its crates, in docs/rust.md and docs/ci.md is compiled and run.
#[cfg(doctest)]
mod readmes {
    macro_rules! readme {
        ($($name:ident: $path:literal),* $(,)?) => { $(
            // Names of files follow the language of a block: `.pre-commit-config.yaml`.
            #[allow(rustdoc::invalid_codeblock_attributes)]
            #[doc = include_str!($path)]
            pub struct $name;
        )* };
    }
    readme! {
        Repository: "../../README.md",
        RustPage: "../../docs/rust.md",
        Ci: "../../docs/ci.md",
        Vop: "../../crates/vop/README.md",
        VopDraw: "../../crates/vop-draw/README.md",
        VopPtx: "../../crates/vop-ptx/README.md",
        VopRun: "../../crates/vop-run/README.md",
    }
}
