//! The parts of docs/ that follow from the code: `docs/diagnostics.md`, `docs/ptxas.md`, and `docs/ptxas.cu`, which shows the
//! deviations on a GPU.

use std::collections::BTreeMap;
use std::fmt::Write;

use vop::interval::OperandValue;
use vop::isa::types::Shape;
use vop::{Deviation, Deviations, Divergence, Form, Mnemonic, Semantics, scalar_forms};

use crate::divergence::class;

/// What the page says about a deviation beyond what the library knows, for readers who want to see it in the machine code or
/// fix it.
struct Note {
    /// A form that shows it, chosen to be read.
    form: &'static str,
    /// Where it happens in the machine code of that form, from ptxas 13.5 for sm_90 unless the text names another.
    code: &'static str,
    /// What the code should do.
    repair: &'static str,
}

fn note(deviation: Deviation) -> Note {
    let (form, code, repair) = match deviation {
        Deviation::ReadsWordsSigned => (
            "vmad.u32.u32.u32.sat d, a, b, c",
            "The product and the sum are an `IMAD.WIDE`, which is signed, and c is extended by `SHF.R.S32.HI`.",
            "Extend each word by its own type, and c by the sign of the result. The sum of unsigned words needs all 64 bits, \
             unsigned, and signed ones with a negated product of unsigned words need 65.",
        ),
        Deviation::ScalesUnsigned => (
            "vmad.u32.u32.u32.sat.shr7 d, a, b.b0, c",
            "The sum is shifted by `SHF.R.U64`, after it has been computed by a signed `IMAD.WIDE`.",
            "Once the words are read as unsigned, nothing is left to fix: the sum is then not negative.",
        ),
        Deviation::ShiftsIn64 => (
            "vshl.s32.u32.u32.clamp.max d, a, b, c",
            "The upper word of the shifted value, `SHF.L.U64.HI`, goes into a signed comparison, `ISETP.GT.AND.EX`.",
            "Compare as unsigned, after the case of a negative c has been handled.",
        ),
        Deviation::KeepsLow34 => (
            "vshl.u32.u32.u32.sat.clamp d, a, b",
            "The upper word is cut by `LOP3.LUT …, 0x3, RZ, 0xc0`, and its bit 1 is copied upwards. It is the `.s34` that the \
             manual's pseudo code passes to `optSaturate`; a shift by 32 of a 32-bit value does not fit it.",
            "Saturate the 64-bit value.",
        ),
        Deviation::SaturatesShiftToWord => (
            "vshr.u32.u32.u32.sat.clamp d.b0, a, b, c",
            "No instruction between the shift and the inserting `PRMT` compares anything with 0xff.",
            "Saturate to the part, as `optSaturate` does with `isSigned` and the size that the selector names.",
        ),
        Deviation::SaturatesPartUnsigned => (
            "vadd.u32.s32.s32.sat d.b0, a, b, c",
            "If the upper word is not zero (`ISETP.NE.U32.AND`), all bits of the lower word are set. Then `VIMNMX.U32` takes the \
             minimum of the lower word and 0xff. The upper word of a negative sum is all ones.",
            "Clamp the signed value to the least and the greatest value of the part.",
        ),
        Deviation::SaturatesBySign => (
            "vadd.u32.u32.u32.sat d, a, b",
            "`ISETP.GE.AND` compares the upper word with zero, and the lower word is kept or cleared. The code \
             ignores a carry into the upper word.",
            "If the upper word is positive, the result is 0xffffffff.",
        ),
        Deviation::CutsTo32 => (
            "vadd.s32.s32.s32.max d, a, b, c",
            "The sum is a 32-bit `IMAD.IADD`, and `SHF.R.S32.HI …, 0x1f` makes its upper word.",
            "Keep the carry, as the saturating forms do.",
        ),
        Deviation::ComparesUnsigned => (
            "vmin.u32.s32.s32.min d, a, b, c",
            "The second comparison is `ISETP.LT.U32.AND.EX`, on upper words. One of these words is a sign extension.",
            "Compare as signed: c has been extended by dtype, and all values fit.",
        ),
        Deviation::SignsCByA => (
            "vset.s32.s32.lt.max d, a, b, c",
            "c is extended by `SHF.R.S32.HI`. That is correct only for instructions whose first type is dtype.",
            "`vset` has no dtype: extend c by zeros.",
        ),
        Deviation::MergesWrongHalf => (
            "vadd.u32.u32.u32 d.h1, a, b, c",
            "The inserting `PRMT` has the selector 0x3254, where 13.3 and later have 0x1054.",
            "ptxas 13.3 fixed it.",
        ),
    };
    Note { form, code, repair }
}

/// The semantics that has a deviation.
pub fn semantics(deviation: Deviation) -> Semantics {
    if Semantics::Ptxas.deviations().has(deviation) { Semantics::Ptxas } else { Semantics::PtxasTo13_2 }
}

/// Inputs for the form of the deviation's note that show it: d differs from the manual's value because of this deviation alone,
/// or together with as few others as possible.
fn witness(deviation: Deviation) -> Divergence {
    let form: Form = note(deviation).form.parse().expect("the forms of the notes are legal");
    let all = semantics(deviation).deviations();
    let needed = |others: Deviations| {
        let inputs = form.separating(others, others.with(deviation), [OperandValue::Free; 3])?;
        let [a, b, c] = inputs;
        let (isa, ptxas) = (form.eval(a, b, c), form.eval_by(all, a, b, c));
        let deviations = form.deciding(all, a, b, c);
        (isa != ptxas && deviations.has(deviation)).then_some(Divergence {
            form,
            semantics: semantics(deviation),
            inputs,
            isa,
            ptxas,
            deviations,
        })
    };
    needed(Deviations::NONE)
        .or_else(|| needed(all.without(deviation)))
        .expect("the forms of the notes show their deviation")
}

/// How many scalar forms two sets of deviations separate.
pub(crate) fn touched(one: Deviations, other: Deviations, forms: impl Iterator<Item = Form>) -> usize {
    let mut classes = BTreeMap::new();
    let separated = |form: Form| form.separating(one, other, [OperandValue::Free; 3]).is_some();
    let concerned = forms.filter(|&form| one.concerning(form) != other.concerning(form));
    concerned.filter(|&form| *classes.entry(class(form)).or_insert_with(|| separated(form))).count()
}

/// The values of a, b and c as arguments of a command.
fn arguments(divergence: &Divergence) -> String {
    let count = if divergence.form.uses_c() { 3 } else { 2 };
    let values: Vec<String> = divergence.inputs[..count].iter().map(|value| short(*value)).collect();
    values.join(" ")
}

/// Broken between words into lines of at most 120 characters.
pub(crate) fn wrapped(words: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in words.split(' ') {
        let width = word.chars().count();
        if column > 0 {
            let fits = column + 1 + width <= 120;
            text.push(if fits { ' ' } else { '\n' });
            column = if fits { column + 1 } else { 0 };
        }
        text.push_str(word);
        column += width;
    }
    text
}

fn short(value: u32) -> String {
    match value as i32 {
        small @ -16..1000 => small.to_string(),
        _ => format!("{value:#x}"),
    }
}

/// The files in docs/ and what stands in them.
pub fn all() -> [(&'static str, String); 3] {
    [("ptxas.md", ptxas_md()), ("ptxas.cu", ptxas_cu()), ("diagnostics.md", crate::diagnostics::page())]
}

/// `docs/ptxas.md`.
fn ptxas_md() -> String {
    let mut text = String::from(INTRODUCTION);
    let newest = Semantics::Ptxas.deviations();

    text.push_str(
        "## How many forms\n\n| | scalar forms | forms for which the two can differ |\n| --- | ---: | ---: |\n",
    );
    let mut sums = [0; 2];
    for mnemonic in Mnemonic::ALL.into_iter().filter(|mnemonic| mnemonic.shape() == Shape::Scalar) {
        let counts = [mnemonic.forms().count(), touched(Deviations::NONE, newest, mnemonic.forms())];
        let _ = writeln!(
            text,
            "| `{mnemonic}` | {} | {} |",
            vop::grouped(counts[0] as u64),
            vop::grouped(counts[1] as u64)
        );
        sums = [sums[0] + counts[0], sums[1] + counts[1]];
    }
    let _ = writeln!(text, "| all | {} | {} |", vop::grouped(sums[0] as u64), vop::grouped(sums[1] as u64));
    let older = touched(Deviations::NONE, Deviations::ALL, scalar_forms());
    let _ = writeln!(
        text,
        "| all, ptxas 11.7 to 13.2 | {} | {} |\n",
        vop::grouped(sums[0] as u64),
        vop::grouped(older as u64)
    );
    text.push_str(COUNTS);

    text.push_str(
        "\n## The deviations\n\n| | stage | forms affected | example | a, b, c | d by ptxas | d by the manual |\n",
    );
    text.push_str("| --- | --- | ---: | --- | --- | --- | --- |\n");
    let mut sections = String::new();
    for &deviation in Deviation::ALL {
        let all = semantics(deviation).deviations();
        let witness = witness(deviation);
        let forms = touched(all, all.without(deviation), scalar_forms());
        let _ = writeln!(
            text,
            "| [{deviation}](#{deviation}) | {} | {} | `{}` | {} | {:08x} | {:08x} |",
            deviation.stage(),
            vop::grouped(forms as u64),
            witness.form,
            arguments(&witness).replace(' ', ", "),
            witness.ptxas,
            witness.isa
        );
        sections.push_str(&section(deviation, &witness));
    }
    text.push_str(TOUCHED);
    text.push_str(&sections);
    text.push_str(VERSIONS);
    text.push_str(METHOD);
    text.replace("DIFFERING", &vop::grouped(sums[1] as u64)).replace("SCALAR", &vop::grouped(sums[0] as u64))
}

fn section(deviation: Deviation, witness: &Divergence) -> String {
    let Note { code, repair, .. } = note(deviation);
    let (form, arguments) = (witness.form, arguments(witness));
    let mut text = format!("\n### {deviation}\n\n");
    let mut paragraph = |words: String| {
        text.push_str(&wrapped(&words));
        text.push_str("\n\n");
    };
    paragraph(format!(
        "{}, at {}: the code {}. By the manual {}.",
        deviation.scope(),
        deviation.stage(),
        deviation.ptxas(),
        deviation.manual()
    ));
    paragraph(format!("*In the code:* {code}"));
    paragraph(format!("*To fix it:* {repair}"));
    let others: Vec<String> =
        witness.deviations.without(deviation).iter().map(|other| format!("[{other}](#{other})")).collect();
    if !others.is_empty() {
        paragraph(format!("This example also shows {}.", others.join(" and ")));
    }
    let ptxas = match witness.semantics {
        Semantics::PtxasTo13_2 => " --ptxas 13.2/nvidia/cu13/bin/ptxas",
        _ => "",
    };
    if !ptxas.is_empty() {
        text.push_str("    pip install --no-deps --target 13.2 nvidia-cuda-nvcc==13.2.86\n");
    }
    let _ = writeln!(text, "    cargo xtask sass run{ptxas} '{form}' {arguments}");
    let _ = writeln!(text, "    cargo xtask sass show{ptxas} '{form}'");
    let _ = writeln!(text, "    vop explain --semantics {} '{form}' {arguments}", witness.semantics);
    text
}

const INTRODUCTION: &str = "\
<!-- Written by `cargo xtask docs`; a test fails when it is not what that writes. -->

# What ptxas computes for video instructions

For GPUs since Turing (sm_75), ptxas replaces each video instruction by a sequence of machine instructions. For DIFFERING of the
SCALAR scalar [forms](glossary.md#form), ptxas's code disagrees with the manual (PTX ISA, section 9.7.18) on some inputs. This page
lists the disagreements, for people who fix ptxas and for people who must match it. `--semantics ptxas` of the commands `eval`,
`explain`, `map`, `lower` and `run`, and `Semantics::Ptxas` of the library, compute the same values as ptxas's code, bit for bit.

The sequences hold intermediate values in signed 64-bit registers, where the manual has exact integers. Almost all values fit.
Most errors come from the next step:

- A saturation looks at too few bits of the register, or reads its sign wrongly, or saturates to the wrong size.
- Before a `.min` or `.max`, the register is cut to 32 bits, or compared as unsigned although its value is negative.
- `vmad` and `vset` take a sign from the wrong type.

Everything else is as the manual says: how a and b are selected, the arithmetic, and, since ptxas 13.3, merges.

All SIMD forms that were tried (`vadd2` to `vset4`, see the [last section](#how-it-was-found-and-how-to-check-it)) are as the
manual says.

";

const COUNTS: &str = "\
These counts are exact. A form is counted if an input is known for which the two differ. For every other form, z3 proves that no
such input exists (`cargo xtask divergence` takes some minutes). `Form::divergence` returns the input.
";

const TOUCHED: &str = "
*Forms affected*: the forms for which fixing this deviation alone changes d for some input.
";

const VERSIONS: &str = "
## Versions, targets, options

| ptxas | |
| --- | --- |
| 11.7.99 to 13.2.86 | all deviations |
| 13.3.33 to 13.5.37, the newest | all except [wrong-half](#wrong-half) |

These releases were tried on samples of 1,696 to 15,264 scalar forms, with 512 inputs each, for sm_75 or sm_90 or both: 11.7.99, 11.8.89, 12.0.140, 12.1.105, 12.2.140, 12.3.107, 12.4.131, 12.5.82, 12.6.85, 12.8.93, 12.9.86,
13.0.88, 13.1.115, 13.2.51, 13.2.86, 13.3.33, 13.3.73, 13.4.92 and 13.5.37. The samples
cover every mnemonic with all its modifiers and destinations. For 13.2.86, all 6,664 forms with `d.h1` were run. To try another
release:

    pip install --no-deps --target 12.4 nvidia-cuda-nvcc-cu12==12.4.131
    cargo xtask sass sweep --ptxas 12.4/nvidia/cuda_nvcc/bin/ptxas --target sm_75 --every 49

With 13.5.37 the results do not depend on the target. All 83,104 forms were run for sm_75, 90, 100 and 120, with 512 inputs each,
and samples for sm_80, 86, 87, 88, 89, 103, 110, 121 and the variants 90a, 100a, 100f, 103a, 103f, 120a and 120f. (The code for
sm_107 has a machine instruction that the simulator does not know.) The results do not depend on whether an operand is an
immediate:

    cargo xtask sass run 'vadd.u32.s32.s32.sat d.b0, a, 5, c' -16 0 0

On samples, the results do not depend on `-O0` to `-O3`, or on the module's `.version` and `.target`.

GPUs before Turing execute some of the instructions in hardware. Their results were not measured.
";
const METHOD: &str = "
## How it was found, and how to check it

No GPU was used. `cargo xtask sass` compiles a form with ptxas and executes the machine code in a simulator, which knows the few
dozen machine instructions that occur. ptxas and nvdisasm are on PyPI, in `nvidia-cuda-nvcc` and `nvidia-cuda-nvdisasm`; the
environment variable `CUDA_BIN` names their folder.

    cargo xtask sass sweep                      # all 83,104 scalar forms, 256 inputs each, against --semantics ptxas
    cargo xtask sass sweep --simd 20000         # random SIMD forms
    cargo xtask divergence                      # the counts above, proved by z3
    nvcc -arch=native -o ptxas docs/ptxas.cu && ./ptxas        # some forms of each deviation, on your GPU

A test compares the library's results for all scalar forms with hashes of the results of ptxas's code
(`tests/golden/ptxas-hashes.tsv`). So the library cannot drift where ptxas is not installed.
";

/// `docs/ptxas.cu`: a program for a GPU that executes one form for each deviation and each instruction that has it.
fn ptxas_cu() -> String {
    let mut rows = Vec::new();
    for &deviation in Deviation::ALL {
        for mnemonic in Mnemonic::ALL {
            let all = semantics(deviation).deviations();
            let shown = |form: Form| {
                let inputs = form.separating(all.without(deviation), all, [OperandValue::Free; 3])?;
                let [a, b, c] = inputs;
                (form.eval(a, b, c) != form.eval_by(all, a, b, c)).then_some((deviation, form, inputs))
            };
            rows.extend(mnemonic.forms().take(100_000).filter(|form| deviation.concerns(*form)).find_map(shown));
        }
    }
    let mut cases = String::new();
    let mut table = String::new();
    for (i, (deviation, form, [a, b, c])) in rows.iter().copied().enumerate() {
        let asm = format!(
            "    case {i}: asm volatile(\"{};\" : \"=r\"(d) : \"r\"(a), \"r\"(b), \"r\"(c)); break;\n",
            in_asm(form)
        );
        cases.push_str(&asm);
        let [isa, newest, older] = Semantics::ALL.map(|semantics| form.eval_as(semantics, a, b, c));
        let _ = writeln!(
            table,
            "    {{\"{form}\", \"{deviation}\", {{{a:#x}, {b:#x}, {c:#x}}}, {isa:#x}, {newest:#x}, {older:#x}}},"
        );
    }
    PROGRAM.replace("CASES\n", &cases).replace("ROWS\n", &table)
}

/// The form's text with inline assembly's names of operands.
fn in_asm(form: Form) -> String {
    let text = form.to_string();
    let (opcode, operands) = text.split_once(' ').unwrap_or((&text, ""));
    let operands: Vec<String> = operands
        .split(", ")
        .map(|operand| {
            ["d", "a", "b", "c"].iter().enumerate().fold(operand.to_owned(), |operand, (i, name)| {
                let (minus, bare) = operand.strip_prefix('-').map_or(("", &operand[..]), |bare| ("-", bare));
                match bare.strip_prefix(name) {
                    Some(rest) if rest.is_empty() || rest.starts_with('.') => format!("{minus}%{i}{rest}"),
                    _ => operand,
                }
            })
        })
        .collect();
    format!("{opcode} {}", operands.join(", "))
}

const PROGRAM: &str = r#"// Written by `cargo xtask docs`; a test fails when it is not what that writes.
//
// Executes forms of video instructions for which ptxas's code disagrees with the manual (docs/ptxas.md) on this machine's GPU,
// and prints whose result each is:
//
//     nvcc -arch=native -o ptxas docs/ptxas.cu && ./ptxas
//
// The exit status is 0 if every result is the expected one for the ptxas of the compiler's release.

#include <cstdio>
#include <cstdlib>

struct Row {
    const char *form, *deviation;
    unsigned in[3], manual, newest, older;
};

static const Row rows[] = {
ROWS
};
constexpr int count = sizeof rows / sizeof *rows;

__global__ void execute(const unsigned *in, unsigned *out)
{
    int i = blockIdx.x;
    // Loaded, so that ptxas cannot compute the results itself.
    unsigned a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2], d = 0;
    switch (i) {
CASES
    }
    out[i] = d;
}

static void check(cudaError_t error)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "%s\n", cudaGetErrorString(error));
        exit(2);
    }
}

int main()
{
    unsigned *in, *out;
    check(cudaMallocManaged(&in, 3 * count * sizeof *in));
    check(cudaMallocManaged(&out, count * sizeof *out));
    for (int i = 0; i < 3 * count; i++)
        in[i] = rows[i / 3].in[i % 3];
    execute<<<count, 1>>>(in, out);
    check(cudaDeviceSynchronize());
    const int version = 100 * __CUDACC_VER_MAJOR__ + __CUDACC_VER_MINOR__;
    int surprises = 0;
    for (int i = 0; i < count; i++) {
        const Row &row = rows[i];
        unsigned expected = version < 1303 ? row.older : row.newest;
        const char *whose = out[i] == row.manual ? "as the manual" : out[i] == row.newest ? "as ptxas 13.3 and later"
                          : out[i] == row.older  ? "as ptxas 11.7 to 13.2" : "as none";
        surprises += out[i] != expected;
        printf("%-16s %-44s %08x %08x %08x -> %08x %s%s\n", row.deviation, row.form, row.in[0], row.in[1], row.in[2], out[i],
               whose, out[i] == expected ? "" : ", which is not expected");
    }
    printf("%d forms, %d not as expected of ptxas %d.%d\n", count, surprises, __CUDACC_VER_MAJOR__, __CUDACC_VER_MINOR__);
    return surprises != 0;
}
"#;
