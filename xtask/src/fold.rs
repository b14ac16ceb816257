//! What ptxas computes itself: an instruction on constants becomes a constant in the machine code, or a few instructions that the
//! simulator knows. Either is a witness for single instructions of `vop run`.
//!
//! The rows are those of vop-run's tests: opcode, register types, sources, result, and ptxas's result where that is another.

use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::path::Path;

use vop_tests::Random;

use crate::sass::{Setting, Toolchain, ToolchainError};

/// An instruction on constants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// With all modifiers.
    pub opcode: String,
    /// The types of the registers, the result's first.
    pub types: Vec<String>,
    /// The bits of each source.
    pub sources: Vec<u64>,
    /// The bits of the result by ptxas's code, as the row says.
    pub result: u64,
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sources: Vec<String> = self.sources.iter().map(|source| format!("{source:x}")).collect();
        write!(f, "{}\t{}\t{}", self.opcode, self.types.join(" "), sources.join(" "))
    }
}

/// The width of a register in bits; a predicate has 1.
fn width(ty: &str) -> Option<u32> {
    match ty {
        "pred" => Some(1),
        _ => ty.get(1..)?.parse().ok().filter(|bits| [16, 32, 64].contains(bits)),
    }
}

/// A value as a row has it: hexadecimal bits, or a number of the type.
fn bits(text: &str, ty: &str) -> Option<u64> {
    match ty {
        "f32" if text.contains(['.', '-']) || text == "inf" => Some(u64::from(text.parse::<f32>().ok()?.to_bits())),
        "f64" if text.contains(['.', '-']) || text == "inf" => Some(text.parse::<f64>().ok()?.to_bits()),
        _ => u64::from_str_radix(text, 16).ok(),
    }
}

impl Row {
    /// A row of a file of vop-run's tests. None for what ptxas is not asked for: video instructions, which `cargo xtask sass sweep`
    /// compares, instructions of two results or with immediates, and those that are refused.
    pub fn read(line: &str) -> Option<Row> {
        let fields: Vec<&str> = line.split('\t').collect();
        let ([opcode, types, sources, result] | [opcode, types, sources, _, result]) = fields[..] else { return None };
        let types: Vec<String> = types.split(' ').map(str::to_owned).collect();
        if opcode.starts_with(['v', '#']) || !types.iter().all(|ty| width(ty).is_some()) {
            return None;
        }
        let values = sources.split(' ').zip(&types[1..]).map(|(source, ty)| bits(source, ty));
        let sources: Vec<u64> = values.collect::<Option<_>>()?;
        let result = bits(result, &types[0])?;
        Some(Row { opcode: opcode.to_owned(), types, sources, result })
    }

    /// The rows of the files of a folder.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn of_folder(folder: &Path) -> std::io::Result<Vec<Row>> {
        let mut files: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
        files.sort_by_key(std::fs::DirEntry::path);
        let mut rows = Vec::new();
        for file in files.iter().filter(|file| file.path().extension().is_some_and(|extension| extension == "tsv")) {
            rows.extend(std::fs::read_to_string(file.path())?.lines().filter_map(Row::read));
        }
        Ok(rows)
    }

    /// Blocks that leave the low word of the result in `d`, and of a result of 64 bits the high word.
    fn texts(&self) -> Vec<String> {
        let mut block = String::from("{ .reg .b32 t; .reg .b16 h; ");
        let mut operands = String::from("x");
        let _ = write!(block, ".reg .{} x; ", self.types[0]);
        for (i, (ty, source)) in self.types[1..].iter().zip(&self.sources).enumerate() {
            let _ = write!(operands, ", s{i}");
            let _ = match width(ty) {
                Some(1) => write!(block, ".reg .pred s{i}; setp.ne.u32 s{i}, {source}, 0; "),
                Some(width) => write!(block, ".reg .{ty} s{i}; mov.b{width} s{i}, {source:#x}; "),
                None => Ok(()),
            };
        }
        let _ = write!(block, "{} {operands}; ", self.opcode);
        let ends: &[&str] = match width(&self.types[0]) {
            Some(1) => &["selp.b32 d, 1, 0, x; }"],
            Some(16) => &["mov.b16 h, x; cvt.u32.u16 d, h; }"],
            Some(64) => &["mov.b64 {d, t}, x; }", "mov.b64 {t, d}, x; }"],
            _ => &["mov.b32 d, x; }"],
        };
        ends.iter().map(|end| block.clone() + end).collect()
    }

    /// Whether a result is a NaN. Which one, the manual leaves open, and ptxas's folding and its machine code choose differently.
    pub fn is_nan(&self, result: u64) -> bool {
        let mut types = self.opcode.split('.').skip(1);
        let ty = types.find(|word| ["f16", "bf16", "f16x2", "bf16x2", "f32", "f64", "tf32"].contains(word));
        let halves = |limit: u64| result & 0x7fff > limit || result >> 16 & 0x7fff > limit;
        match ty {
            Some("f32" | "tf32") => result & 0x7fff_ffff > 0x7f80_0000,
            Some("f64") => f64::from_bits(result).is_nan(),
            Some("f16" | "f16x2") => halves(0x7c00),
            Some("bf16" | "bf16x2") => halves(0x7f80),
            _ => false,
        }
    }

    /// The same instruction on other inputs: edges of the types, and anything.
    fn on_others(&self, random: &mut Random) -> Row {
        let float = self.opcode.contains(".f") || self.opcode.contains("bf16");
        let value = |ty: &String| {
            let width = width(ty).unwrap_or(1);
            let any = u64::from(random.value()) << 32 | u64::from(random.value());
            let (half, choice) = (random.value().is_multiple_of(2), random.value() as usize);
            let edges: &[u64] = match (ty.as_str(), width) {
                (_, 1) => &[0, 1],
                ("f32", _) => &SINGLES,
                ("f64", _) => &DOUBLES,
                (_, 16) if float => &HALVES,
                _ => &INTEGERS,
            };
            let value = if half || width == 1 { edges[choice % edges.len()] } else { any >> (choice % 64) };
            if width == 64 { value } else { value & ((1 << width) - 1) }
        };
        let sources = self.types[1..].iter().map(value).collect();
        Row { sources, ..self.clone() }
    }
}

const SINGLES: [u64; 27] = [
    0,
    0x8000_0000,
    1,
    0x8000_0001,
    0x007f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x00ff_ffff,
    0x3f7f_ffff,
    0x3f80_0000,
    0xbf80_0000,
    0x3f80_0001,
    0x4000_0000,
    0x3f00_0000,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x4f00_0000,
    0x4f80_0000,
    0x5f00_0000,
    0x5f80_0000,
    0x7e80_0001,
    0x3300_0001,
    0x3880_0000,
    0x4380_0000,
];
const DOUBLES: [u64; 24] = [
    0,
    1 << 63,
    1,
    0x0010_0000_0000_0000,
    0x3ff0_0000_0000_0000,
    0xbff0_0000_0000_0000,
    0x3fe0_0000_0000_0000,
    0x7fef_ffff_ffff_ffff,
    0x7ff0_0000_0000_0000,
    0xfff0_0000_0000_0000,
    0x7ff8_0000_0000_0000,
    0x380f_ffff_e000_0000,
    0x380f_ffff_efff_ffff,
    0x380f_ffff_f000_0000,
    0xb80f_ffff_f000_0000,
    0x3810_0000_0000_0000,
    0x36a0_0000_0000_0000,
    0x3690_0000_0000_0001,
    0x47ef_ffff_f000_0000,
    0x41ef_ffff_fff0_0000,
    0x43e0_0000_0000_0000,
    0x43f0_0000_0000_0000,
    0x3ff0_0000_1000_0000,
    0x3ff0_0000_3000_0000,
];
const HALVES: [u64; 16] = [
    0, 0x8000, 1, 0x8001, 0x03ff, 0x0400, 0x8400, 0x3c00, 0xbc00, 0x3bff, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x3f80,
    0x7f80,
];
const INTEGERS: [u64; 24] = [
    0,
    1,
    2,
    8,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    255,
    256,
    264,
    0x1_0008,
    0x7fff,
    0x8000,
    0x7fff_ffff,
    0x8000_0000,
    u64::MAX,
    1 << 63,
];

/// Rows with random inputs of every instruction that these rows have, `count` of each. Division by zero is left out.
pub fn random(rows: &[Row], count: usize, seed: u64) -> Vec<Row> {
    let mut random = Random(seed);
    let mut seen = BTreeSet::new();
    let mut others = Vec::new();
    for row in rows.iter().filter(|row| seen.insert((&row.opcode, &row.types))) {
        let integer = ["div.u", "div.s", "rem."].iter().any(|name| row.opcode.starts_with(name));
        let of_row = (0..count).map(|_| row.on_others(&mut random));
        others.extend(of_row.filter(|other| !integer || other.sources[1] != 0));
    }
    others
}

/// The result of each row by ptxas for a target: none where ptxas neither computes it nor makes code that the simulator knows, or where
/// the target does not have the instruction.
///
/// # Errors
/// If a tool fails.
pub fn fold(toolchain: &Toolchain, rows: &[Row], target: &str) -> Result<Vec<Option<u64>>, ToolchainError> {
    let all: Vec<(usize, String)> =
        rows.iter().enumerate().flat_map(|(i, row)| row.texts().into_iter().map(move |text| (i, text))).collect();
    let texts: Vec<&str> = all.iter().map(|(_, text)| text.as_str()).collect();
    let version = toolchain.newest_isa()?;
    let verdicts = toolchain.judge(&texts, Setting { version: &version, target, declarations: ".reg .b32 d;" })?;
    let asked: Vec<(usize, String)> =
        all.into_iter().zip(verdicts).filter(|(_, verdict)| verdict.is_ok()).map(|(asked, _)| asked).collect();
    let texts: Vec<&str> = asked.iter().map(|(_, text)| text.as_str()).collect();
    let codes = toolchain.compile(&texts, target)?;
    let mut results: Vec<Option<u64>> = vec![None; rows.len()];
    let mut previous = None;
    for ((i, _), code) in asked.iter().zip(&codes) {
        let word = code.run(0, 0, 0).ok().map(u64::from);
        results[*i] =
            if previous == Some(*i) { results[*i].zip(word).map(|(low, high)| low | high << 32) } else { word };
        previous = Some(*i);
    }
    Ok(results)
}
