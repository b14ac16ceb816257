//! What helps say to write is what ptxas takes, and what CUDA's intrinsics compute is what the hints for them compute.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use vop::{Code, Parser};
use vop_tests::Random;

use self::corpus::{applied, case, entry, judged};
use crate::tools;

#[path = "../../tests/cases/patches/corpus.rs"]
#[allow(dead_code, reason = "other tests need what is left")]
mod corpus;

/// A text to which the helps are applied until none is a patch; the codes whose helps were. `None` where faults are left.
fn mended(text: &str) -> Option<(String, Vec<Code>)> {
    let (mut text, mut codes) = (text.to_owned(), Vec::new());
    while codes.len() < 20 {
        let (faults, lints) = judged(&text);
        let open = if faults.is_empty() { lints } else { faults.clone() };
        match open.iter().find_map(|one| Some((one.code, applied(&text, one)?))) {
            Some((code, next)) => {
                codes.push(code);
                text = next;
            }
            None => return faults.is_empty().then_some((text, codes)),
        }
    }
    None
}

#[test]
fn ptxas_takes_what_helps_say_to_write() {
    let Some(toolchain) = tools::ptxas() else { return };
    let mut random = Random::of(5);
    let mut seen: BTreeMap<Code, usize> = BTreeMap::new();
    let mut kernels: Vec<String> = Vec::new();
    // ptxas takes long.
    let most = if tools::full() { 150 } else { 40 };
    for _ in 0..12_000 {
        let text = case(&mut random).text();
        let Some((text, codes)) = mended(&text) else { continue };
        if codes.is_empty() || codes.iter().all(|code| seen.get(code).is_some_and(|count| *count > most)) {
            continue;
        }
        // On the sum of an `.f16x2` ptxas 13.5 dies.
        if text.contains("h2+") {
            continue;
        }
        codes.iter().for_each(|code| *seen.entry(*code).or_default() += 1);
        kernels.push(text);
    }
    for code in [Code::V0302, Code::V0307, Code::V0310, Code::V0311, Code::V0402, Code::V0403, Code::V0701, Code::V0704]
    {
        assert!(seen.get(&code).is_some_and(|count| *count > 20), "{code}: {seen:?}");
    }
    let assemble = |texts: &[String]| {
        let mut module = String::from(".version 8.6\n.target sm_90\n.address_size 64\n");
        for (i, text) in texts.iter().enumerate() {
            let _ = write!(module, "{}", entry(&format!("k{i}"), text));
        }
        toolchain.assemble(module.as_bytes(), "sm_90").map_err(|error| error.to_string())
    };
    let mut refused = Vec::new();
    for texts in kernels.chunks(100) {
        if assemble(texts).is_err() {
            let alone = texts.iter().filter_map(|text| Some((text, assemble(std::slice::from_ref(text)).err()?)));
            refused.extend(alone.map(|(text, error)| format!("{text}\n{error}")));
        }
    }
    assert!(
        refused.is_empty(),
        "{} of {}\n{}",
        refused.len(),
        kernels.len(),
        refused[..refused.len().min(12)].join("\n")
    );
}

/// CUDA's SIMD intrinsics, by the number of their operands.
const INTRINSICS: [(&str, usize); 46] = [
    ("__vabs2", 1),
    ("__vabs4", 1),
    ("__vabsss2", 1),
    ("__vabsss4", 1),
    ("__vabsdiffs2", 2),
    ("__vabsdiffs4", 2),
    ("__vabsdiffu2", 2),
    ("__vabsdiffu4", 2),
    ("__vadd2", 2),
    ("__vadd4", 2),
    ("__vaddss2", 2),
    ("__vaddss4", 2),
    ("__vaddus4", 2),
    ("__vavgs2", 2),
    ("__vavgs4", 2),
    ("__vavgu2", 2),
    ("__vavgu4", 2),
    ("__vcmpeq2", 2),
    ("__vcmpeq4", 2),
    ("__vcmpges4", 2),
    ("__vcmpgeu4", 2),
    ("__vcmpgts2", 2),
    ("__vcmpltu4", 2),
    ("__vcmpne4", 2),
    ("__vhaddu2", 2),
    ("__vhaddu4", 2),
    ("__vmaxs2", 2),
    ("__vmaxu4", 2),
    ("__vmins4", 2),
    ("__vminu2", 2),
    ("__vneg2", 1),
    ("__vneg4", 1),
    ("__vnegss2", 1),
    ("__vnegss4", 1),
    ("__vsads2", 2),
    ("__vsads4", 2),
    ("__vsadu2", 2),
    ("__vsadu4", 2),
    ("__vseteq4", 2),
    ("__vsetgts4", 2),
    ("__vsetltu2", 2),
    ("__vsub4", 2),
    ("__vsubss4", 2),
    ("__vsubus2", 2),
    ("__vimax3_s16x2", 3),
    ("__viaddmax_s16x2", 3),
];

/// The instructions that the help for a name says to write, on d, a, b and c.
fn hint(name: &str) -> String {
    let faults = Parser::new().allow_bare().parse(name).expect_err(name);
    let help = faults[0].help.clone().unwrap();
    match help.split_once(":\n") {
        Some((_, block)) => block.to_owned(),
        None => format!("{};", help.split('`').nth(1).unwrap()),
    }
}

/// nvcc compiles the intrinsic and the hint, and its PTX runs on the CPU.
#[test]
fn hints_compute_what_nvcc_makes_of_the_intrinsics() {
    let Some(toolchain) = tools::nvcc() else { return };
    let mut source = String::new();
    for (i, (name, operands)) in INTRINSICS.iter().enumerate() {
        let arguments = &["a", "b", "c"][..*operands];
        let hint = hint(name).replace('\n', " ");
        // The names of the hint's operands, as those of the template.
        let mut template = String::new();
        for part in hint.split_inclusive(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.')) {
            let word = part.trim_end_matches(|c: char| !(c.is_alphanumeric() || c == '_' || c == '.'));
            let place = ["d", "a", "b", "c"].iter().position(|name| *name == word);
            template.push_str(&place.map_or(word.to_owned(), |place| format!("%{place}")));
            template.push_str(&part[word.len()..]);
        }
        let _ = write!(
            source,
            "extern \"C\" __global__ void k{i}(const unsigned *in, unsigned *out) {{\n\
             const unsigned *row = in + 3 * threadIdx.x; unsigned a = row[0], b = row[1], c = row[2], d;\n\
             asm(\"{template}\" : \"=&r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c));\n\
             out[2 * threadIdx.x] = {name}({}); out[2 * threadIdx.x + 1] = d;\n}}\n",
            arguments.join(", ")
        );
    }
    let ptx = toolchain.ptx(&source, "sm_90").unwrap_or_else(|error| panic!("{error}\n{source}"));
    let mut random = Random::of(6);
    let edges = [0, 0x7f80_ff01, 0x8080_8080, 0x7fff_8000, 0xffff_ffff, 0x8000_0001];
    let mut words: Vec<u32> = edges.iter().flat_map(|&a| edges.iter().flat_map(move |&b| [a, b, a ^ b])).collect();
    words.extend((0..300).map(|_| (random.next() >> 16) as u32));
    let rows = words.len() / 3;
    let program = vop_run::Program::read(&ptx);
    for (i, (name, _)) in INTRINSICS.iter().enumerate() {
        let kernel = program.kernel(&format!("k{i}")).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut memory = program.memory();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let input = memory.allocate("in", bytes);
        let output = memory.allocate("out", vec![0; rows * 8]);
        let options = vop_run::LaunchOptions::default();
        kernel.launch([1; 3], [rows as u32, 1, 1], &[input.into(), output.into()], &mut memory, &options).expect(name);
        for (row, pair) in memory.bytes(output).chunks(8).enumerate() {
            assert_eq!(pair[..4], pair[4..], "{name} of {:x?}: {}", &words[3 * row..3 * row + 3], hint(name));
        }
    }
}
