//! One instruction: read, judged, evaluated, explained and lowered.

#![allow(unsafe_code, reason = "the pointers are C's")]

use std::ffi::c_char;

use vop::lower::LowerOptions;
use vop::{Instruction, Operand, Parser, Registers};

use crate::diagnostic::{faults, items, vop_diagnostics, write};
use crate::guard::{Failure, answer, ask, free, object, produce, vop_status};
use crate::text::{Text, produce_text, target_of, text_of, view_of, vop_format, vop_str, vop_text};

/// What instructions compute.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum vop_semantics {
    /// What the PTX manual says.
    VOP_SEMANTICS_ISA = 0,
    /// What the code of ptxas computes, from CUDA 13.3 on.
    VOP_SEMANTICS_PTXAS = 1,
    /// What the code of ptxas computes, up to CUDA 13.2.
    VOP_SEMANTICS_PTXAS_TO_13_2 = 2,
}

/// A legal instruction. It never changes, so threads may share it.
pub struct vop_instruction {
    /// The text that it was read from.
    source: String,
    pub(crate) form: vop::Form,
    text: Text,
    opcode: Text,
    meaning: Text,
    guard: Option<Text>,
    d: Text,
    a: Text,
    b: Text,
    c: Option<Text>,
}

impl vop_instruction {
    fn new(source: &str, read: &Instruction<'_>) -> vop_instruction {
        let operand = |operand: &Operand<'_>| Text::new(operand.to_string());
        vop_instruction {
            source: source.to_owned(),
            form: read.form,
            text: Text::new(read.to_string()),
            opcode: Text::new(read.form.to_string()),
            meaning: Text::new(read.form.describe()),
            guard: read.guard.map(|guard| Text::new(guard.to_string())),
            d: Text::new(read.d),
            a: operand(&read.a),
            b: operand(&read.b),
            c: read.c.as_ref().map(operand),
        }
    }

    /// The instruction with its operands, which stand in its text.
    fn read(&self) -> Result<Instruction<'_>, Failure> {
        let parsed = Parser::new().allow_bare().parse(&self.source);
        parsed.map_err(|found| faults(vop_status::VOP_ERROR_PARSE, &found, &self.source))
    }
}

/// The registers of declarations, if there are any.
///
/// # Safety
/// `declarations` must be null, or as for [`text_of`].
unsafe fn registers_of(declarations: *const c_char, len: usize) -> Result<Option<Registers>, Failure> {
    if declarations.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller promises it.
    let text = unsafe { text_of(declarations, len, "declarations")? };
    let registers = text.parse::<Registers>();
    registers.map(Some).map_err(|found| faults(vop_status::VOP_ERROR_PARSE, &found, text))
}

fn parser(registers: Option<&Registers>) -> Parser<'_> {
    let parser = Parser::new().allow_bare();
    match registers {
        Some(registers) => parser.with_registers(registers),
        None => parser,
    }
}

/// Reads an instruction, as ptxas does. Operands may be left out: `vadd4.u32.u32.u32` is an instruction.
///
/// `declarations` declares registers, such as `.reg .b32 %r<9>;`, and operands are judged by their types then. If it is null, every name is
/// a register of 32 bits.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_parse(
    text: *const c_char,
    text_len: usize,
    declarations: *const c_char,
    declarations_len: usize,
    out: *mut *mut vop_instruction,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives texts of these lengths.
        let (text, registers) =
            unsafe { (text_of(text, text_len, "text")?, registers_of(declarations, declarations_len)?) };
        let read = parser(registers.as_ref()).parse(text);
        let read = read.map_err(|found| faults(vop_status::VOP_ERROR_PARSE, &found, text))?;
        Ok(vop_instruction::new(text, &read))
    };
    // SAFETY: C gives places for answers, or null.
    unsafe { produce(out, diagnostics, work) }
}

/// Frees an instruction; null is nothing to free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_instruction_free(instruction: *mut vop_instruction) {
    // SAFETY: C gives up a handle of this library.
    unsafe { free(instruction) };
}

/// Judges the text of an instruction. The list has every fault if the text is illegal, otherwise every lint: what is legal and strange. It
/// is empty if there is nothing to say.
///
/// The status is `VOP_OK` for a text that is illegal, too: `vop_diagnostics_errors(*out)` counts its faults. `declarations` is as for
/// `vop_parse`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_judge(
    text: *const c_char,
    text_len: usize,
    declarations: *const c_char,
    declarations_len: usize,
    out: *mut *mut vop_diagnostics,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives texts of these lengths.
        let (text, registers) =
            unsafe { (text_of(text, text_len, "text")?, registers_of(declarations, declarations_len)?) };
        let found = match parser(registers.as_ref()).parse_with_places(text) {
            Err(found) => found,
            Ok((instruction, places)) => {
                let registers = registers.as_ref().map(|registers| registers as &dyn vop::Declarations);
                vop::Linter::default().lint_among(text, &instruction, &places, registers)
            }
        };
        Ok(vop_diagnostics::new(items(&found, text)))
    };
    // SAFETY: C gives places for answers, or null.
    unsafe { produce(out, diagnostics, work) }
}

/// The instruction in its canonical spelling.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_instruction_text(instruction: *const vop_instruction) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(instruction, vop_str::EMPTY, |one| one.text.view()) }
}

/// Its form: the instruction with the names a, b, c and d in the place of its operands. Equal forms mean the same.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_instruction_form(instruction: *const vop_instruction) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(instruction, vop_str::EMPTY, |one| one.opcode.view()) }
}

/// What it computes, in a sentence.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_instruction_meaning(instruction: *const vop_instruction) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(instruction, vop_str::EMPTY, |one| one.meaning.view()) }
}

/// Its guard, such as `@!p`; empty if it has none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_instruction_guard(instruction: *const vop_instruction) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(instruction, vop_str::EMPTY, |one| view_of(one.guard.as_ref())) }
}

/// The operand d.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_instruction_d(instruction: *const vop_instruction) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(instruction, vop_str::EMPTY, |one| one.d.view()) }
}

/// The operand a.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_instruction_a(instruction: *const vop_instruction) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(instruction, vop_str::EMPTY, |one| one.a.view()) }
}

/// The operand b.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_instruction_b(instruction: *const vop_instruction) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(instruction, vop_str::EMPTY, |one| one.b.view()) }
}

/// The operand c; empty if there is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_instruction_c(instruction: *const vop_instruction) -> vop_str {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(instruction, vop_str::EMPTY, |one| view_of(one.c.as_ref())) }
}

/// Whether d depends on c.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_instruction_reads_c(instruction: *const vop_instruction) -> bool {
    // SAFETY: C gives a handle that is not freed.
    unsafe { ask(instruction, false, |one| one.form.reads_c()) }
}

/// The number of machine instructions that ptxas makes of it for a target, such as `sm_90`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_instruction_cost(
    instruction: *const vop_instruction,
    target: *const c_char,
    target_len: usize,
    cost: *mut u32,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a handle that is not freed, a text of this length, and a place that is null or valid for a write.
        unsafe {
            let (instruction, target) = (object(instruction, "instruction")?, target_of(target, target_len)?);
            if cost.is_null() {
                return Err(Failure::null("cost"));
            }
            cost.write(instruction.form.cost(target));
        }
        Ok(())
    };
    // SAFETY: C gives a place for diagnostics, or null.
    unsafe { answer(diagnostics, work) }
}

/// The values of a, b and c.
///
/// # Safety
/// `values` must be valid for reads of `count` words, or null if that is 0.
unsafe fn inputs_of(instruction: &Instruction<'_>, values: *const u32, count: usize) -> Result<[u32; 3], Failure> {
    if count > 3 {
        return Err(Failure::new(vop_status::VOP_ERROR_ARGUMENT, "an instruction has three sources at most"));
    }
    let given: Vec<Option<u32>> = match count {
        0 => Vec::new(),
        _ if values.is_null() => return Err(Failure::null("values")),
        // SAFETY: it is not null, and the caller promises the rest.
        _ => unsafe { std::slice::from_raw_parts(values, count) }.iter().map(|value| Some(*value)).collect(),
    };
    instruction.inputs(&given).map_err(|why| Failure::new(vop_status::VOP_ERROR_ARGUMENT, why.to_string()))
}

/// The value of d for values of the sources: one for each source in order, or one for each source that is a register. A value of c may be
/// left out where d does not depend on c. A guard is not looked at. `semantics` is a `vop_semantics`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_eval(
    instruction: *const vop_instruction,
    semantics: i32,
    values: *const u32,
    count: usize,
    d: *mut u32,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a handle that is not freed, that number of words, and a place that is null or valid for a write.
        unsafe {
            let semantics = vop_semantics::read(semantics)?;
            let read = object(instruction, "instruction")?.read()?;
            let [a, b, c] = inputs_of(&read, values, count)?;
            if d.is_null() {
                return Err(Failure::null("d"));
            }
            d.write(read.form.eval_as(semantics, a, b, c));
        }
        Ok(())
    };
    // SAFETY: C gives a place for diagnostics, or null.
    unsafe { answer(diagnostics, work) }
}

/// Every stage from the sources to d. `format` is a `vop_format`; JSON has what `vop explain --format json` has in `stages`. `semantics` and
/// `values` are as for `vop_eval`; with a `count` of 0 the library chooses values that show every stage.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_explain(
    instruction: *const vop_instruction,
    semantics: i32,
    values: *const u32,
    count: usize,
    format: i32,
    out: *mut *mut vop_text,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        let (semantics, format) = (vop_semantics::read(semantics)?, vop_format::read(format)?);
        // SAFETY: C gives a handle that is not freed, and that number of words.
        let (read, [a, b, c]) = unsafe {
            let read = object(instruction, "instruction")?.read()?;
            let inputs = if count == 0 { read.telling_inputs(semantics) } else { inputs_of(&read, values, count)? };
            (read, inputs)
        };
        let trace = read.form.explain_as(semantics, a, b, c);
        Ok(match format {
            vop_format::VOP_FORMAT_JSON => vop_draw::stages(&trace).to_string(),
            _ => format.drawn(&vop_draw::explanation(&trace, read.operand_values())),
        })
    };
    // SAFETY: C gives places for answers, or null.
    unsafe { produce_text(out, diagnostics, work) }
}

/// The instruction as the cheapest ordinary PTX for a target, such as `sm_90`: a block that computes the same d. `semantics` is what the
/// block computes. `before` and `after` are the costs of the instruction and of the block in machine instructions; either may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vop_lower(
    instruction: *const vop_instruction,
    target: *const c_char,
    target_len: usize,
    semantics: i32,
    out: *mut *mut vop_text,
    before: *mut u32,
    after: *mut u32,
    diagnostics: *mut *mut vop_diagnostics,
) -> vop_status {
    let work = || {
        // SAFETY: C gives a handle that is not freed, and a text of this length.
        let (read, target) = unsafe { (object(instruction, "instruction")?.read()?, target_of(target, target_len)?) };
        let options = LowerOptions::new(target).with_semantics(vop_semantics::read(semantics)?);
        let lowering = read.form.lower(options);
        if !lowering.exact {
            let message = format!(
                "ptxas's code for `{}` disagrees with the semantics asked for, and no rule computes its results",
                read.form
            );
            let help = "VOP_SEMANTICS_PTXAS keeps what ptxas's code computes";
            return Err(Failure::with_help(vop_status::VOP_ERROR_LOWER, message, help));
        }
        // SAFETY: C gives places that are null or valid for a write.
        unsafe {
            write(before, read.form.cost(options.target));
            write(after, lowering.cost);
        }
        Ok(lowering.block(&read, &Registers::default()).to_string())
    };
    // SAFETY: C gives places for answers, or null.
    unsafe { produce_text(out, diagnostics, work) }
}
