//! PTX's video instructions as functions for other languages: C, C++, Rust, CUDA, HIP, OpenCL, NumPy, WGSL, AVX2, NEON.
//!
//! ```text
//! Form ──rules──► Candidates ──► Sequences of base instructions ──translate──► Code: operations of a machine ──print──► text
//!        vop::lower, and `rules` here                              the cheapest is taken
//! ```
//!
//! - [`Code`] is the one intermediate sequence: operations on words that every language has, and some that a target's `machine` has.
//! - [`Target`] is a language: a row of a table, and a value of `print::Syntax` that writes operations and functions.
//! - [`port`] makes a [`Port`] of a form: a function with its name and words.
//! - `Code::query` is what a solver proves of it.
//!
//! ```
//! use vop_port::{Target, port};
//! let form: vop::Form = "vadd4.u32.u32.u32".parse().unwrap();
//! let port = port(form, "c".parse().unwrap(), vop::Semantics::Isa).unwrap();
//! assert_eq!(port.name(), "vadd4_u32_u32_u32");
//! assert_eq!(port.operations(), 6);
//! assert!(port.text().contains("uint32_t vadd4_u32_u32_u32(uint32_t a, uint32_t b, uint32_t c)"));
//! ```
#![forbid(unsafe_code)]

mod amdgcn;
mod base;
mod boolean;
pub mod code;
mod extra;
mod intrinsic;
mod julia;
mod lanes;
mod llvm;
mod machine;
mod name;
mod print;
mod proof;
mod request;
mod rules;
pub mod source;
mod target;
mod translate;
mod vector;
mod words;

use core::fmt;

use code::Code;
use machine::Machine;
use vop::lower::{Candidate, LowerOptions, Sequence};
use vop::{Form, Intrinsic, Semantics};

pub use base::{Base, BaseError};
pub use intrinsic::code_of_intrinsic;
pub use name::name;
pub use proof::query_of_base;
pub use request::{Request, RequestError};
pub use target::{Target, UnknownTarget};

/// GPUs of which each has base instructions that the others lack, or lacks some for which there are other rules then.
const MODELS: [&str; 4] = ["sm_75", "sm_90", "sm_120", "sm_120f"];

/// The plain operations that compute a form: the fewest that the rules know, without long words if `has_long` is false. `None` if there
/// are none without.
///
/// ```
/// use vop_port::code;
/// let form: vop::Form = "vmax4.u32.u32.u32".parse().unwrap();
/// let code = vop_port::code(form, vop::Semantics::Isa, true).unwrap();
/// assert_eq!(code.operations(), 12);
/// assert_eq!(code.eval(0x01_80_05_ff, 0x02_7f_05_00, 0), 0x02_80_05_ff);
/// ```
pub fn code(form: Form, semantics: Semantics, has_long: bool) -> Option<Code> {
    code_on(form, semantics, machine::plain_with(has_long))
}

/// The cheapest operations that compute a form on a machine.
pub(crate) fn code_on(form: Form, semantics: Semantics, machine: &'static Machine) -> Option<Code> {
    cheapest(&sequences(form, semantics), machine)
}

/// The cheapest operations on a machine that compute what each of the sequences does.
pub(crate) fn cheapest(sequences: &[Sequence], machine: &'static Machine) -> Option<Code> {
    let codes: Vec<Code> = sequences.iter().map(|sequence| translate::translate(sequence, machine)).collect();
    let least = |codes: &[Code]| {
        let costs = codes.iter().filter_map(|code| Some((code.cost(machine)?, code.long_operations(), code)));
        costs.min_by_key(|(cost, long, _)| (*cost, *long)).map(|(_, _, code)| code.clone())
    };
    least(&codes).or_else(|| {
        let words: Vec<Code> = codes.iter().map(|code| words::without_long(code, machine)).collect();
        least(&words)
    })
}

/// All ways that the rules know to compute a form, as base instructions of PTX: what [`code()`] chooses from.
pub fn sequences(form: Form, semantics: Semantics) -> Vec<Sequence> {
    let mut all = Vec::new();
    for target in MODELS.into_iter().filter_map(|model| model.parse().ok()) {
        let options = LowerOptions::new(target).with_semantics(semantics);
        for candidate in form.candidates(options).into_iter().chain(rules::candidates(form, target)) {
            all.extend(candidate.sequences(form, target));
        }
    }
    all
}

/// What the rules of this crate write for a form, beside those of [`vop::lower`]: what is proved for all selectors.
pub fn candidates(form: Form) -> Vec<Candidate> {
    MODELS[0].parse().map_or_else(|_| Vec::new(), |target| rules::candidates(form, target))
}

/// Why a form cannot be ported. All targets of today take all forms: without integers of 64 bits, a long word is two words.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum PortError {
    /// The language has no integers of 64 bits, and the rules know no way without.
    NeedsLong {
        /// The form.
        form: Form,
        /// The language.
        target: Target,
    },
}

impl fmt::Display for PortError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PortError::NeedsLong { form, target } => {
                write!(f, "`{form}` needs integers of 64 bits, which {target} does not have and the other targets do")
            }
        }
    }
}

impl core::error::Error for PortError {}

/// What a function computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A form of a video instruction.
    Form(Form, Semantics),
    /// An intrinsic of CUDA.
    Intrinsic(Intrinsic),
    /// A base instruction of PTX.
    Base(Base),
}

/// A form or an intrinsic as a function of a language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    source: Source,
    target: Target,
    name: String,
    code: Code,
    /// Other operations that the function has on some devices, if they are cheaper there.
    device: Option<Code>,
}

/// A form as a function of a language: d of a, b and c, each a word of 32 bits. A register that the form does not read is a parameter
/// all the same.
///
/// # Errors
/// If the form needs what the language lacks.
pub fn port(form: Form, target: Target, semantics: Semantics) -> Result<Port, PortError> {
    let code = code_on(form, semantics, target.machine()).ok_or(PortError::NeedsLong { form, target })?;
    let source = Source::Form(form, semantics);
    Ok(Port::new(source, target, name(form, semantics), code, |machine| code_on(form, semantics, machine)))
}

/// All operations that some target has for a form, each once: plain ones first.
///
/// ```
/// let form: vop::Form = "vadd4.s32.s32.s32.sat".parse().unwrap();
/// let codes = vop_port::codes(form, vop::Semantics::Isa);
/// assert!(codes.iter().all(|code| code.eval(0x7f_80_01_00, 0x01_ff_01_00, 0) == 0x7f_80_02_00));
/// assert!(codes.iter().any(|code| code.operations() == 1));
/// ```
pub fn codes(form: Form, semantics: Semantics) -> Vec<Code> {
    let sequences = sequences(form, semantics);
    let mut codes = Vec::new();
    for machine in machine::ALL {
        codes.extend(cheapest(&sequences, machine).filter(|code| !codes.contains(code)));
    }
    codes
}

/// An intrinsic as a function of a language, with the parameters a, b and c like a form's. Its name has no underscores in front, as such
/// names belong to compilers; that of an integer intrinsic has `cuda_` in front, and its first type behind if it is overloaded.
///
/// ```
/// use vop::Intrinsic;
/// use vop_port::port_intrinsic;
/// let c = "c".parse().unwrap();
/// assert_eq!(port_intrinsic(&Intrinsic::from_name("__vsubss4").unwrap(), c).name(), "vsubss4");
/// assert_eq!(port_intrinsic(&Intrinsic::from_name("__dp4a(char4, char4, int)").unwrap(), c).name(), "cuda_dp4a_char4");
/// ```
pub fn port_intrinsic(intrinsic: &Intrinsic, target: Target) -> Port {
    let code = intrinsic::code_on(intrinsic, target.machine());
    let name = intrinsic::function_name(intrinsic);
    Port::new(Source::Intrinsic(intrinsic.clone()), target, name, code, |machine| {
        Some(intrinsic::code_on(intrinsic, machine))
    })
}

/// A base instruction as a function of a language, with the parameters a, b and c like a form's.
pub fn port_base(base: &Base, target: Target) -> Port {
    let code = base.code_on(target.machine());
    Port::new(Source::Base(base.clone()), target, base.name(), code, |machine| Some(base.code_on(machine)))
}

/// [`port`] as a method of [`Form`], by the manual's semantics.
pub trait PortForm {
    /// The form as a function of a language.
    ///
    /// # Errors
    /// If the form needs what the language lacks.
    ///
    /// ```
    /// use vop_port::PortForm;
    /// let form: vop::Form = "vset2.s32.s32.lt".parse().unwrap();
    /// let port = form.port("rust".parse().unwrap()).unwrap();
    /// assert!(port.text().contains("pub const fn vset2_s32_s32_lt(a: u32, b: u32, _c: u32) -> u32 {"));
    /// ```
    fn port(self, target: Target) -> Result<Port, PortError>;
}

impl PortForm for Form {
    fn port(self, target: Target) -> Result<Port, PortError> {
        port(self, target, Semantics::Isa)
    }
}

impl Port {
    fn new(
        source: Source,
        target: Target,
        name: String,
        code: Code,
        on: impl Fn(&'static Machine) -> Option<Code>,
    ) -> Port {
        let device = target.syntax().device().and_then(|device| {
            let other = on(device.machine)?;
            (other.cost(device.machine)? < code.cost(device.machine)?).then_some(other)
        });
        Port { source, target, name, code, device }
    }

    /// What it computes.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// The instruction's text, or the intrinsic's name, with the types of its parameters if it is overloaded.
    pub fn original(&self) -> String {
        match &self.source {
            Source::Form(form, _) => form.to_string(),
            Source::Intrinsic(intrinsic) => intrinsic.to_string(),
            Source::Base(base) => base.text(),
        }
    }

    /// The function's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The operations.
    pub fn code(&self) -> &Code {
        &self.code
    }

    /// The number of operations, without conversions.
    pub fn operations(&self) -> usize {
        self.code.operations()
    }

    /// The operations that the function has on the devices of the language, if they are others: for `hip` on AMD's GPUs, for `opencl` with dot products.
    pub fn device_code(&self) -> Option<&Code> {
        self.device.as_ref()
    }

    /// Text that compiles alone: what the language must have before functions, and the function, which is visible outside.
    pub fn text(&self) -> String {
        let helpers = self.helpers().concat();
        format!("{}{helpers}{}", self.target.syntax().prelude(), self.function(true, false))
    }

    /// What stands before the function: definitions that it uses.
    fn helpers(&self) -> Vec<String> {
        let (Some(code), Some(device)) = (&self.device, self.target.syntax().device()) else { return Vec::new() };
        let mut helpers: Vec<String> =
            Some(device.prelude).filter(|text| !text.is_empty()).map(String::from).into_iter().collect();
        for (op, _) in code.steps() {
            if let code::Op::Extra(extra) = op {
                helpers.extend((device.helper)(*extra).filter(|helper| !helpers.contains(helper)));
            }
        }
        helpers
    }

    fn words(&self) -> Vec<String> {
        match &self.source {
            Source::Form(form, semantics) => {
                let section = form.mnemonic().row().section;
                let manual = match semantics.releases() {
                    None => format!("PTX ISA manual, section {section}."),
                    Some(releases) => {
                        format!("As the code of ptxas {releases} computes it; PTX ISA manual, section {section}.")
                    }
                };
                vec![form.to_string(), plain(&form.describe()), manual]
            }
            Source::Intrinsic(intrinsic) => {
                let parameters = match intrinsic.types() {
                    Some(_) => "",
                    None => ["(a)", "(a, b)", "(a, b, c)"][intrinsic.parameters() - 1],
                };
                let manual = format!(
                    "CUDA Math API manual, {} intrinsics.",
                    if intrinsic.is_simd() { "SIMD" } else { "integer" }
                );
                vec![format!("{intrinsic}{parameters}"), intrinsic.describe(), manual]
            }
            Source::Base(base) => {
                vec![base.text(), base.describe(), format!("PTX ISA manual, section {}.", base.section())]
            }
        }
    }

    fn function(&self, alone: bool, keep_ptx: bool) -> String {
        let words: Vec<String> = self.words().iter().flat_map(|line| wrapped(line)).collect();
        let ptx = match &self.source {
            Source::Form(form, Semantics::Isa) if keep_ptx => Some(template(&form.to_string())),
            Source::Base(base) if keep_ptx && base.is_of_words() => Some(template(&base.text())),
            _ => None,
        };
        let syntax = self.target.syntax();
        let device = self.device.as_ref();
        let function =
            print::Function { name: &self.name, words: &words, code: &self.code, ptx: ptx.as_deref(), device };
        print::function(syntax, &function, alone)
    }
}

/// A header or a module: each function once, in the given order.
///
/// All must be of one target: the functions of others than the first one's are left out.
pub fn file(ports: &[Port]) -> String {
    file_of(ports, false)
}

/// As [`file()`], but on NVIDIA's GPUs the functions execute the instructions themselves, in an `asm`; those of predicates do not.
///
/// For the targets that [can](Target::can_keep_ptx); for others, as [`file()`].
pub fn file_with_ptx(ports: &[Port]) -> String {
    file_of(ports, true)
}

/// What a header says where its functions hold instructions.
const KEPT: &str = "On NVIDIA's GPUs they execute the instruction itself.";

fn file_of(ports: &[Port], keep_ptx: bool) -> String {
    let Some(first) = ports.first() else { return String::new() };
    let keep_ptx = keep_ptx && first.target.can_keep_ptx();
    let mut seen: Vec<&str> = Vec::new();
    let (mut functions, mut helpers) = (Vec::new(), Vec::new());
    for port in ports.iter().filter(|port| port.target == first.target) {
        if !seen.contains(&&port.name[..]) {
            seen.push(&port.name);
            functions.push(port.function(false, keep_ptx));
            for helper in port.helpers() {
                if !helpers.contains(&helper) {
                    helpers.push(helper);
                }
            }
        }
    }
    let functions: Vec<String> = helpers.into_iter().chain(functions).collect();
    let mut words = vec![
        format!(
            "PTX video instructions as {} functions, written by `vop port --to {}`.",
            title(first.target),
            first.target
        ),
        first.target.syntax().parameters().to_string(),
    ];
    if keep_ptx {
        words.push(KEPT.to_string());
    }
    first.target.syntax().file(&words, &functions)
}

/// Functions for a source that has no file beside it: a string of a program, or LLVM IR. In C's syntax each has a guard, as such sources
/// are put together.
pub(crate) fn functions_within(ports: &[Port], keep_ptx: bool) -> String {
    let Some(first) = ports.first() else { return String::new() };
    let syntax = first.target.syntax();
    let mut text = syntax.prelude().to_string();
    for port in ports {
        let function = port.function(false, keep_ptx);
        match syntax.types() {
            Some(_) => text.push_str(&format!("#ifndef {0}_of_vop\n#define {0}_of_vop\n{function}#endif\n", port.name)),
            None => text.push_str(&format!("\n{function}")),
        }
    }
    text
}

/// Whether a file is one that [`file()`] or [`file_with_ptx`] wrote, whatever the target.
pub fn is_written(text: &[u8]) -> bool {
    let mut head = text.split(|b| *b == b'\n').take(4);
    head.any(|line| String::from_utf8_lossy(line).contains("written by `vop port --to "))
}

/// What a file that [`file()`] wrote holds: its functions, in their order, and whether they keep PTX. `None` if it wrote another target's
/// file, or did not write this one.
///
/// ```
/// use vop_port::{PortForm, file, read_file};
/// let form: vop::Form = "vadd4.u32.u32.u32".parse().unwrap();
/// let ports = [form.port("c".parse().unwrap()).unwrap()];
/// assert_eq!(read_file(&file(&ports), "c".parse().unwrap()), Some((ports.to_vec(), false)));
/// assert_eq!(read_file(&file(&ports), "hip".parse().unwrap()), None);
/// ```
pub fn read_file(text: &str, target: Target) -> Option<(Vec<Port>, bool)> {
    if !text.lines().take(4).any(|line| line.contains(&format!("written by `vop port --to {target}`"))) {
        return None;
    }
    let comment = |line: &'_ str| ["/* ", "/// "].into_iter().find(|sign| line.starts_with(sign)).map(str::len);
    let lines = text.lines().map(str::trim_start).filter_map(|line| Some(&line[comment(line)?..]));
    let mut ports: Vec<Port> = Vec::new();
    for line in lines.map(str::trim_end) {
        let found: Vec<Port> = if let Ok(form) = line.parse::<Form>() {
            // Which semantics, the name tells.
            let ports = Semantics::ALL.into_iter().filter_map(|semantics| port(form, target, semantics).ok());
            ports.filter(|port| text.contains(&format!(" {}(", port.name))).collect()
        } else {
            // With types if it is overloaded, and otherwise with the names of its parameters.
            let bare = line.split_once('(').map_or(line, |(name, _)| name);
            let intrinsic = Intrinsic::from_name(line).or_else(|| Intrinsic::from_name(bare));
            let intrinsic = intrinsic.map(|intrinsic| port_intrinsic(&intrinsic, target));
            intrinsic.or_else(|| Base::from_text(line).map(|base| port_base(&base, target))).into_iter().collect()
        };
        for port in found {
            if ports.iter().all(|known| known.name != port.name) {
                ports.push(port);
            }
        }
    }
    Some((ports, text.contains(KEPT)))
}

/// An instruction as the template of an `asm` whose operands are d, a, b and c.
fn template(text: &str) -> String {
    let (opcode, operands) = text.split_once(' ').unwrap_or((text, ""));
    let renamed = operands.split(", ").map(|operand| {
        let (minus, operand) = operand.strip_prefix('-').map_or(("", operand), |rest| ("-", rest));
        match "dabc".find(&operand[..1]) {
            Some(number) => format!("{minus}%{number}{}", &operand[1..]),
            None => format!("{minus}{operand}"),
        }
    });
    format!("{opcode} {};", renamed.collect::<Vec<_>>().join(", "))
}

/// A sentence in ASCII, which every compiler reads in every locale.
fn plain(text: &str) -> String {
    text.chars().fold(String::new(), |mut all, c| {
        match c {
            '\u{2026}' => all.push_str(" to "),
            '\u{b7}' => all.push('*'),
            '\u{2212}' => all.push('-'),
            c if c.is_ascii() => all.push(c),
            _ => all.push('?'),
        }
        all
    })
}

/// A line as lines of at most this many bytes, cut at blanks.
fn wrapped(line: &str) -> Vec<String> {
    const WIDTH: usize = 100;
    let mut lines = vec![String::new()];
    for word in line.split(' ') {
        match lines.last_mut() {
            Some(last) if last.is_empty() => last.push_str(word),
            Some(last) if last.len() + word.len() < WIDTH => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

/// What people call a language.
fn title(target: Target) -> &'static str {
    target.description().split(':').next().unwrap_or_default()
}
