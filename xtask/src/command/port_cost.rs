//! `cargo xtask port-cost`.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use vop::isa::form::Finish;
use vop::isa::range::Range;
use vop::isa::types::{Comparison, Mask, Operation, Secondary, Selector, Shape};
use vop::{Form, Mnemonic, Semantics};
use vop_port::Port;
use vop_tests::golden;

use super::Failure;
use super::process::{output, succeed};

/// Count the machine instructions of what `vop port` writes, beside plain C that computes lane by lane.
///
/// Without --gpu and --vectors, both are compiled by gcc -O2 for x86-64 without vectorisation, and counted without `ret`, in the listing of
/// objdump. With --gpu, `hip` is compiled by clang -O2 for AMD's GPUs, and vector instructions are counted. With --vectors, what `avx2` or
/// `avx512` writes is timed, beside the plain C in a loop that gcc -O3 vectorises. The forms are golden ones, without vshl, vshr and vmad.
/// The plain C is written from the manual's pseudo code, and is run against evaluation first.
///
/// Beside plain C stands, for forms of one type with default selectors, what ports use today: the words of many lanes' operations in one
/// word that are in books and headers, and clang's vectors of bytes and half-words.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Take each N-th golden form.
    #[arg(long, default_value_t = 10)]
    every: usize,
    /// Take forms with default selectors that write all lanes instead.
    #[arg(long)]
    default_selectors: bool,
    /// The compiler.
    #[arg(long, default_value = "gcc")]
    cc: String,
    /// Count for these GPUs: gfx90a, gfx1100, gfx1200.
    #[arg(long, value_delimiter = ',', conflicts_with = "vectors")]
    gpu: Vec<String>,
    /// Time this target: avx2 or avx512.
    #[arg(long)]
    vectors: Option<String>,
    /// Name this number of the forms that are worst.
    #[arg(long, default_value_t = 0)]
    worst: usize,
}

/// A form that is compared.
struct Compared {
    form: Form,
    name: String,
    operations: usize,
    /// Whether there are rivals beside plain C: by words, and by vectors.
    rivals: [bool; 2],
}

/// What is compared, in the order of its columns.
const KINDS: [&str; 4] = ["", "plain_", "swar_", "lanes_"];

pub(crate) fn run(args: Args) -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let mut texts: Vec<String> = if args.default_selectors {
        let forms = Mnemonic::ALL.into_iter().flat_map(|mnemonic| mnemonic.forms_with_default_selectors());
        let whole = |form: &Form| match form.finish() {
            Finish::Merge(_) => false,
            Finish::Lanes(mask) | Finish::Accumulate(mask) => mask == Mask::full(form.mnemonic().shape()),
            Finish::Plain | Finish::Secondary(_) => true,
        };
        forms.filter(whole).map(|form| form.to_string()).collect()
    } else {
        golden::rows(golden::VALUES).map(|(_, row)| row[0].to_string()).collect()
    };
    texts.dedup();
    let name = match (&args.vectors, args.gpu.is_empty()) {
        (Some(vectors), _) => vectors.as_str(),
        (None, true) => "c",
        (None, false) => "hip",
    };
    let target: vop_port::Target = name.parse().map_err(|error: vop_port::UnknownTarget| error.to_string())?;
    let (mut plain_text, mut rival_text) = (String::new(), String::new());
    let (mut ports, mut compared) = (Vec::new(), Vec::new());
    let mut seen = std::collections::HashSet::new();
    for text in texts.into_iter().step_by(args.every.max(1)) {
        let form: Form = text.parse().map_err(|_| format!("{text} is not legal"))?;
        // Some forms are golden in two spellings.
        let Some(body) = plain(form).filter(|_| seen.insert(form)) else { continue };
        let port = vop_port::port(form, target, Semantics::Isa).map_err(|error| error.to_string())?;
        let name = port.name().to_string();
        let function = |kind: &str, body: &str, to: &mut String| {
            let _ =
                writeln!(to, "uint32_t {kind}{name}(uint32_t a, uint32_t b, uint32_t c)\n{{\n    (void)c;\n{body}}}");
        };
        function("plain_", &body, &mut plain_text);
        let rivals = [swar(form), lanes(form)];
        if let Some(body) = &rivals[0] {
            function("swar_", body, &mut plain_text);
        }
        if let Some(body) = &rivals[1] {
            function("lanes_", body, &mut rival_text);
        }
        let rivals = rivals.map(|body| body.is_some());
        compared.push(Compared { form, name, operations: port.operations(), rivals });
        ports.push(port);
    }
    check(folder.path(), &args.cc, &plain_text, &compared)?;
    if args.vectors.is_some() {
        return super::port_time::run(folder.path(), target, &ports, &plain_text);
    }
    if args.gpu.is_empty() {
        let functions: String = ports.iter().map(Port::text).collect();
        let source = format!("#include <stdint.h>\n{functions}{plain_text}");
        let counts = counts_of_x86(folder.path(), &args.cc, &source)?;
        return table(&compared, &counts, args.worst);
    }
    let clang = super::port_test::new_clang().ok_or("clang 16 or later is missing")?;
    // The functions are called from nowhere: they must be visible.
    let types = "typedef signed char int8_t; typedef unsigned char uint8_t; typedef short int16_t; typedef unsigned short uint16_t;\n\
                 typedef int int32_t; typedef unsigned uint32_t; typedef long long int64_t; typedef unsigned long long uint64_t;\n";
    let functions = vop_port::file(&ports).replace("static inline __host__", "__host__").replace("#pragma once\n", "");
    let macros = "#define __host__\n#define __device__\n#define __HIP_DEVICE_COMPILE__ 1\n";
    let source = format!("{macros}{types}extern \"C\" {{\n{functions}\n{plain_text}\n{rival_text}}}\n");
    std::fs::write(folder.path().join("gpu.cpp"), source)?;
    for model in &args.gpu {
        let mut command = Command::new(&clang);
        command.current_dir(folder.path()).args(["-std=c++17", "-O2", "-S", "--target=amdgcn-amd-amdhsa", "-nogpulib"]);
        succeed(command.arg(format!("-mcpu={model}")).args(["-o", "gpu.s", "gpu.cpp"]))?;
        let counts = counts_of_gpu(&std::fs::read_to_string(folder.path().join("gpu.s"))?);
        writeln!(std::io::stdout(), "{model}, {clang}:\n")?;
        table(&compared, &counts, args.worst)?;
    }
    Ok(())
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let logarithms: Vec<f64> = values.map(f64::ln).collect();
    (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp()
}

/// Geometric means by mnemonic, and the worst forms.
fn table(compared: &[Compared], counts: &BTreeMap<String, usize>, worst: usize) -> Result<(), Failure> {
    struct Row<'a> {
        form: Form,
        operations: f64,
        /// Of each kind, and none for a rival that there is not.
        counts: [Option<f64>; 4],
        families: [&'a str; 3],
    }
    let mut rows = Vec::new();
    for Compared { form, name, operations, rivals } in compared {
        let mut of = [None; 4];
        for (number, kind) in KINDS.into_iter().enumerate() {
            if number < 2 || rivals[number - 2] {
                let count = counts.get(&format!("{kind}{name}")).copied();
                // A function that gives a register back has no instruction.
                of[number] = count.map(|count| count.max(1) as f64);
            }
        }
        if of[0].is_none() || of[1].is_none() {
            return Err(format!("{name} is not in the listing").into());
        }
        let kind = if form.mnemonic().shape().is_simd() { "all of lanes" } else { "all scalar" };
        let families = [form.mnemonic().name(), kind, "all"];
        rows.push(Row { form: *form, operations: (*operations).max(1) as f64, counts: of, families });
    }
    let mut out = std::io::stdout();
    writeln!(
        out,
        "| mnemonic | forms | operations | instructions | lane by lane | ratio | with rivals | ratio to words | ratio to vectors |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |"
    )?;
    let names: std::collections::BTreeSet<&str> = rows.iter().flat_map(|row| row.families).collect();
    for name in names {
        let family: Vec<&Row> = rows.iter().filter(|row| row.families.contains(&name)).collect();
        let count = |number: usize| mean(family.iter().filter_map(|row| row.counts[number]));
        let ratio = |number: usize| {
            let both = family.iter().filter_map(|row| Some(row.counts[0]? / row.counts[number]?));
            let both: Vec<f64> = both.collect();
            let ratio = mean(both.iter().copied());
            (both.len(), if both.is_empty() { String::new() } else { format!("{ratio:.2}") })
        };
        let ((words, to_words), (_, to_vectors)) = (ratio(2), ratio(3));
        writeln!(
            out,
            "| {name} | {} | {:.1} | {:.1} | {:.1} | {} | {words} | {to_words} | {to_vectors} |",
            family.len(),
            mean(family.iter().map(|row| row.operations)),
            count(0),
            count(1),
            ratio(1).1,
        )?;
    }
    let best = |row: &Row| row.counts[1..].iter().flatten().copied().fold(f64::INFINITY, f64::min);
    let worse = rows.iter().filter(|row| row.counts[0].is_some_and(|count| count > best(row))).count();
    writeln!(out, "\n{worse} of {} forms take more instructions than the best of the others.", rows.len())?;
    rows.sort_by(|x, y| {
        let excess = |row: &Row| row.counts[0].unwrap_or(0.0) / best(row);
        excess(y).total_cmp(&excess(x))
    });
    for row in rows.iter().take(worst) {
        writeln!(out, "{}: {:?}", row.form, row.counts.map(|count| count.unwrap_or(0.0)))?;
    }
    writeln!(out)?;
    Ok(())
}

fn counts_of_x86(folder: &Path, compiler: &str, source: &str) -> Result<BTreeMap<String, usize>, Failure> {
    let [path, object] = ["both.c", "both.o"].map(|name| folder.join(name));
    std::fs::write(&path, source)?;
    let flags =
        ["-std=c99", "-O2", "-fno-tree-vectorize", "-fno-tree-slp-vectorize", "-fcf-protection=none", "-c", "-o"];
    succeed(Command::new(compiler).args(flags).args([&object, &path]))?;
    let listing = output(Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(&object))?;
    Ok(counts(&listing))
}

/// The vector instructions of each function in assembly for AMD's GPUs. Those of scalars load constants, which a loop has once.
fn counts_of_gpu(assembly: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut name = String::new();
    for line in assembly.lines() {
        let is_label = |line: &str| !line.starts_with(['\t', '.', ' ', ';']);
        if let Some((label, _)) = line.split_once(':').filter(|_| is_label(line)) {
            name = label.to_string();
            counts.insert(name.clone(), 0);
        } else if line.strip_prefix("\tv_").is_some() {
            *counts.entry(name.clone()).or_default() += 1;
        }
    }
    counts
}

/// The instructions of each function of a listing, without those that return or align.
fn counts(listing: &str) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    let mut name = String::new();
    for line in listing.lines() {
        if let Some(label) = line.strip_suffix(">:").and_then(|line| line.split_once('<')) {
            name = label.1.to_string();
        } else if let Some((_, instruction)) = line.split_once(":\t") {
            let opcode = instruction.split_whitespace().next().unwrap_or_default();
            if !(opcode.starts_with("ret")
                || opcode.starts_with("nop")
                || opcode == "data16"
                || opcode == "xchg"
                || opcode.starts_with("cs"))
            {
                *counts.entry(name.clone()).or_default() += 1;
            }
        }
    }
    counts
}

/// Runs the plain functions and the rivals on edge values: what is compared must be right. Clang's vectors are not run.
fn check(folder: &Path, compiler: &str, functions: &str, compared: &[Compared]) -> Result<(), Failure> {
    let mut random = vop_tests::Random::of(3);
    let mut text =
        format!("#include <stdint.h>\n#include <stdio.h>\n{functions}\nint main(void)\n{{\n    int wrong = 0;\n");
    for Compared { form, name, rivals, .. } in compared {
        for [a, b, c] in vop_tests::edge_rows(&mut random, 12) {
            let d = form.eval(a, b, c);
            for kind in ["plain_", "swar_"].into_iter().take(1 + usize::from(rivals[0])) {
                let call = format!("{kind}{name}({a:#x}u, {b:#x}u, {c:#x}u)");
                let _ = writeln!(text, "    if ({call} != {d:#x}u) {{ puts(\"{kind}{name}\"); wrong = 1; }}");
            }
        }
    }
    text.push_str("    return wrong;\n}\n");
    std::fs::write(folder.join("check.c"), text)?;
    let program = folder.join("check");
    succeed(Command::new(compiler).current_dir(folder).args(["-std=c99", "-O0", "-o"]).arg(&program).arg("check.c"))?;
    succeed(&mut Command::new(program))
}

/// Whether all lanes are of one type and in their places: the type.
fn common(form: Form) -> Option<Range> {
    let shape = form.mnemonic().shape();
    let is_whole = match form.finish() {
        Finish::Lanes(mask) => mask == Mask::full(shape),
        _ => false,
    };
    let text = form.to_string();
    let has_selectors = text.split_once(' ').is_some_and(|(_, operands)| operands.contains('.'));
    let signed = form.atype().is_signed();
    let is_one = form.btype().is_signed() == signed && form.dtype().is_none_or(|ty| ty.is_signed() == signed);
    (shape.is_simd() && is_whole && !has_selectors && is_one).then(|| Range::new(signed, shape.bits()))
}

/// How books and headers compute lanes in a word: sums without the highest bits, and these by themselves.
fn swar(form: Form) -> Option<String> {
    let lanes = common(form)?;
    let splat = |lane: u32| (0..32 / lanes.bits).fold(0u32, |word, i| word | lane << (i * lanes.bits));
    let [high, low, one] = [splat(1 << (lanes.bits - 1)), splat((1 << (lanes.bits - 1)) - 1), splat(1)];
    let ones = if lanes.bits == 8 { 0xff } else { 0xffff };
    let shift = lanes.bits - 1;
    // Signed lanes as unsigned ones that are greater by half of the range.
    let bias = if lanes.signed { format!("    a ^= {high:#x}u;\n    b ^= {high:#x}u;\n") } else { String::new() };
    let sum = format!("((a & {low:#x}u) + (b & {low:#x}u)) ^ ((a ^ b) & {high:#x}u)");
    let difference = format!("((a | {high:#x}u) - (b & {low:#x}u)) ^ (~(a ^ b) & {high:#x}u)");
    // The highest bit of each lane says that a is at least b, without sign; as a mask of the lane.
    let at_least = format!("((a & ~b) | (~(a ^ b) & ((a | {high:#x}u) - (b & {low:#x}u)))) & {high:#x}u");
    let mask = format!("    const uint32_t s = {at_least};\n    const uint32_t m = (s >> {shift}) * {ones:#x}u;\n");
    let saturates = form.saturation().is_some();
    let clamped = |t: &str, over: &str| match lanes.signed {
        true => format!(
            "    const uint32_t t = {t};\n    const uint32_t o = {over} & {high:#x}u;\n    const uint32_t m = (o >> {shift}) * {ones:#x}u;\n    \
             const uint32_t e = {low:#x}u + ((a >> {shift}) & {one:#x}u);\n    return (t & ~m) | (e & m);\n"
        ),
        false => format!(
            "    const uint32_t t = {t};\n    const uint32_t m = ((({over}) & {high:#x}u) >> {shift}) * {ones:#x}u;\n"
        ),
    };
    Some(match (form.mnemonic().operation(), saturates) {
        (Operation::Add, false) => format!("    return {sum};\n"),
        (Operation::Sub, false) => format!("    return {difference};\n"),
        (Operation::Add, true) if lanes.signed => clamped(&sum, "(~(a ^ b) & (a ^ t))"),
        (Operation::Add, true) => clamped(&sum, "(a & b) | ((a | b) & ~t)") + "    return t | m;\n",
        (Operation::Sub, true) if lanes.signed => clamped(&difference, "((a ^ b) & (a ^ t))"),
        (Operation::Sub, true) => clamped(&difference, "(~a & b) | (~(a ^ b) & t)") + "    return t & ~m;\n",
        (Operation::Min, false) => {
            let back = if lanes.signed { format!(" ^ {high:#x}u") } else { String::new() };
            format!("{bias}{mask}    return ((b & m) | (a & ~m)){back};\n")
        }
        (Operation::Max, false) => {
            let back = if lanes.signed { format!(" ^ {high:#x}u") } else { String::new() };
            format!("{bias}{mask}    return ((a & m) | (b & ~m)){back};\n")
        }
        (Operation::Absdiff, false) if !lanes.signed => {
            format!("{bias}{mask}    return ((a & m) | (b & ~m)) - ((b & m) | (a & ~m));\n")
        }
        (Operation::Avrg, false) if !lanes.signed => {
            format!("    return (a | b) - (((a ^ b) & {:#x}u) >> 1);\n", !one)
        }
        (Operation::Set, _) => {
            let swapped = "    const uint32_t swapped = a;\n    a = b;\n    b = swapped;\n";
            let is_zero =
                format!("    const uint32_t x = a ^ b;\n    const uint32_t z = ((x & {low:#x}u) + {low:#x}u) | x;\n");
            match form.comparison()? {
                Comparison::Ge => format!("{bias}{mask}    return s >> {shift};\n"),
                Comparison::Lt => format!("{bias}{mask}    return (s ^ {high:#x}u) >> {shift};\n"),
                Comparison::Le => format!("{swapped}{bias}{mask}    return s >> {shift};\n"),
                Comparison::Gt => format!("{swapped}{bias}{mask}    return (s ^ {high:#x}u) >> {shift};\n"),
                Comparison::Ne => format!("{is_zero}    return (z >> {shift}) & {one:#x}u;\n"),
                Comparison::Eq => format!("{is_zero}    return (~z >> {shift}) & {one:#x}u;\n"),
            }
        }
        _ => return None,
    })
}

/// The same by clang's vectors of bytes or half-words.
fn lanes(form: Form) -> Option<String> {
    let lanes = common(form)?;
    let ty = match (lanes.bits, lanes.signed) {
        (8, true) => "signed char",
        (8, false) => "unsigned char",
        (_, true) => "short",
        (_, false) => "unsigned short",
    };
    let wide = if lanes.bits == 8 { "short" } else { "int" };
    let value = match (form.mnemonic().operation(), form.saturation().is_some()) {
        (Operation::Add, false) => "x + y".to_string(),
        (Operation::Sub, false) => "x - y".to_string(),
        (Operation::Add, true) => "__builtin_elementwise_add_sat(x, y)".to_string(),
        (Operation::Sub, true) => "__builtin_elementwise_sub_sat(x, y)".to_string(),
        (Operation::Min, false) => "__builtin_elementwise_min(x, y)".to_string(),
        (Operation::Max, false) => "__builtin_elementwise_max(x, y)".to_string(),
        (Operation::Absdiff, false) => "__builtin_elementwise_max(x, y) - __builtin_elementwise_min(x, y)".to_string(),
        (Operation::Avrg, false) if !lanes.signed => {
            "__builtin_convertvector((__builtin_convertvector(x, wide) + __builtin_convertvector(y, wide) + 1) >> 1, lanes)".to_string()
        }
        (Operation::Set, _) => {
            let relation = relation(form.comparison()?);
            format!("(lanes)(x {relation} y) & (lanes)(1)")
        }
        _ => return None,
    };
    let count = 32 / lanes.bits;
    Some(format!(
        "    typedef {ty} lanes __attribute__((ext_vector_type({count})));\n    \
         typedef {wide} wide __attribute__((ext_vector_type({count})));\n    (void)sizeof(wide);\n    \
         const lanes x = __builtin_bit_cast(lanes, a), y = __builtin_bit_cast(lanes, b);\n    \
         return __builtin_bit_cast(unsigned, (lanes)({value}));\n"
    ))
}

/// C's operator of a comparison.
fn relation(comparison: Comparison) -> &'static str {
    match comparison {
        Comparison::Eq => "==",
        Comparison::Ne => "!=",
        Comparison::Lt => "<",
        Comparison::Le => "<=",
        Comparison::Gt => ">",
        Comparison::Ge => ">=",
    }
}

/// A part of a register as a number.
fn field(register: &str, low: u32, range: Range) -> String {
    let shifted = if low == 0 { register.to_string() } else { format!("({register} >> {low})") };
    format!("({}int{}_t){shifted}", if range.signed { "" } else { "u" }, range.bits)
}

/// The body of a function that computes a form lane by lane; `None` for shifts and `vmad`.
fn plain(form: Form) -> Option<String> {
    let shape = form.mnemonic().shape();
    let operation = form.mnemonic().operation();
    let input = |second: bool, lane: usize| {
        let ty = if second { form.btype() } else { form.atype() };
        let selector = if second { form.bsel() } else { form.asel() };
        let own = if second { "b" } else { "a" };
        let of = |number: u8, count: u8| (if number < count { "a" } else { "b" }, u32::from(number % count));
        match selector {
            Selector::Word | Selector::Part(_) => {
                let (low, bits) = selector.place();
                field(own, low, Range::new(ty.is_signed(), bits))
            }
            Selector::Halves(lanes) => {
                let (register, number) = of(lanes[lane], 2);
                field(register, 16 * number, Range::new(ty.is_signed(), 16))
            }
            Selector::Bytes(lanes) => {
                let (register, number) = of(lanes[lane], 4);
                field(register, 8 * number, Range::new(ty.is_signed(), 8))
            }
        }
    };
    // Lanes fit an int, words do not.
    let ty = if shape == Shape::Scalar { "int64_t" } else { "int32_t" };
    let clamped = |t: &str| match form.saturation() {
        Some(range) => {
            let (least, most) = (range.min(), range.max());
            format!("    {t} = {t} < {least}LL ? ({ty}){least}LL : {t} > {most}LL ? ({ty}){most}LL : {t};\n")
        }
        None => String::new(),
    };
    let computed = |x: &str, y: &str| {
        Some(match operation {
            Operation::Add => format!("{x} + {y}"),
            Operation::Sub => format!("{x} - {y}"),
            Operation::Absdiff => format!("{x} < {y} ? {y} - {x} : {x} - {y}"),
            Operation::Min => format!("{x} < {y} ? {x} : {y}"),
            Operation::Max => format!("{x} > {y} ? {x} : {y}"),
            Operation::Avrg => format!("({x} + {y} + ({x} + {y} >= 0)) >> 1"),
            Operation::Set => {
                let relation = relation(form.comparison()?);
                format!("{x} {relation} {y}")
            }
            Operation::Shl | Operation::Shr | Operation::Mad => return None,
        })
    };
    let mut text = String::new();
    let mut lane = |number: usize| -> Option<()> {
        let (x, y, t) = (format!("x{number}"), format!("y{number}"), format!("t{number}"));
        let _ = writeln!(text, "    const {ty} {x} = {}, {y} = {};", input(false, number), input(true, number));
        let _ = writeln!(text, "    {ty} {t} = {};", computed(&x, &y)?);
        text.push_str(&clamped(&t));
        Some(())
    };
    let end = match form.finish() {
        Finish::Plain => {
            lane(0)?;
            "    return (uint32_t)t0;\n".to_string()
        }
        Finish::Merge(part) => {
            lane(0)?;
            let mask = (u32::MAX >> (32 - part.bits())) << part.shift();
            format!("    return (c & ~{mask:#x}u) | ((uint32_t)t0 << {} & {mask:#x}u);\n", part.shift())
        }
        Finish::Secondary(secondary) => {
            lane(0)?;
            let c = if form.is_signed() { "(int64_t)(int32_t)c" } else { "(int64_t)c" };
            match secondary {
                Secondary::Add => "    return (uint32_t)t0 + c;\n".to_string(),
                Secondary::Min => format!("    return (uint32_t)(t0 < {c} ? t0 : {c});\n"),
                Secondary::Max => format!("    return (uint32_t)(t0 > {c} ? t0 : {c});\n"),
            }
        }
        Finish::Lanes(mask) => {
            let bits = shape.bits();
            let mut d = Vec::new();
            for number in 0..shape.lanes() {
                let place = (u32::MAX >> (32 - bits)) << (bits * number as u32);
                if mask.has(number) {
                    lane(number)?;
                    d.push(format!("((uint32_t)t{number} << {} & {place:#x}u)", bits * number as u32));
                } else {
                    d.push(format!("(c & {place:#x}u)"));
                }
            }
            format!("    return {};\n", d.join(" | "))
        }
        Finish::Accumulate(mask) => {
            let mut d = String::from("c");
            for number in (0..shape.lanes()).filter(|&number| mask.has(number)) {
                lane(number)?;
                let _ = write!(d, " + (uint32_t)t{number}");
            }
            format!("    return {d};\n")
        }
    };
    text.push_str(&end);
    Some(text)
}
