//! Branches and calls.

use vop_ptx::module::{FunctionKind, Scalar, StatementKind, lex};

use super::function::{Decoder, Register, Variable, width_of};
use super::instruction::Known;
use crate::code::{Actual, Call, CallTarget, Op, System, SystemFunction};
use crate::column::Width;
use crate::error::RunError;
use crate::lanes::unary;
use crate::memory::{FUNCTION_BASE, SHORT_FUNCTION_BASE};
use crate::opcode::Opcode;
use crate::types::Kind;

/// What kernels need that start other kernels.
const LAUNCHES: &str = "launches from the device (dynamic parallelism)";
/// What kernels need that synchronise grids by a handle.
const HANDLES: &str = "grids over several devices (`multi_grid_group`)";

/// The types of the registers that a parameter is passed in.
fn components(formal: &vop_ptx::module::Variable) -> impl Iterator<Item = Scalar> {
    std::iter::repeat_n(formal.ty.scalar, usize::from(formal.ty.vector.max(1)))
}

impl Decoder<'_, '_> {
    fn label(&self, name: &str) -> Result<usize, RunError> {
        let found = self.builder.module.label(self.scope, name);
        found.ok_or_else(|| self.malformed(format!("there is no label `{name}` here")))
    }

    pub(super) fn branch(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        opcode.take("uni");
        self.count(operands, 1..=1)?;
        let statement = self.label(operands[0])?;
        let step = self.emit(Op::Branch(0));
        self.branch_to(step, vec![statement]);
        Ok(true)
    }

    /// The directive that a label stands before: `.branchtargets`, `.callprototype`.
    fn labelled_directive(&self, name: &str, directive: &str) -> Option<&str> {
        let module = self.builder.module;
        let label = module.label(self.scope, name)?;
        match &module.statements().get(label + 1)?.kind {
            StatementKind::Directive { name, arguments } if module.slice(name) == directive => {
                Some(module.slice(arguments))
            }
            _ => None,
        }
    }

    pub(super) fn branch_indexed(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        if !opcode.take("idx") {
            return Ok(false);
        }
        opcode.take("uni");
        self.count(operands, 2..=2)?;
        let index = self.source(operands[0], Scalar::B32)?;
        let Some(targets) = self.labelled_directive(operands[1], ".branchtargets") else {
            return Err(self.malformed(format!("`{}` is no list of branch targets", operands[1])));
        };
        let targets = targets.to_owned();
        let mut statements = Vec::new();
        for range in lex::split_operands(&targets) {
            statements.push(self.label(&targets[range])?);
        }
        let step = self.emit(Op::BranchIndexed { index, targets: Box::default() });
        self.branch_to(step, statements);
        Ok(true)
    }

    /// `call (results), name, (arguments), prototype`: all but the name may be left out.
    pub(super) fn call(&mut self, opcode: &mut Opcode<'_>, operands: &[&str]) -> Known {
        opcode.take("uni");
        let inside = |text: &str| Some(text.strip_prefix('(')?.strip_suffix(')')?.to_owned());
        let mut rest = operands.iter().copied().peekable();
        let list = |text: Option<String>| -> Vec<String> {
            let text = text.unwrap_or_default();
            lex::split_operands(&text).map(|range| text[range].to_owned()).collect()
        };
        let results = rest.next_if(|text| text.starts_with('(')).and_then(inside);
        let Some(name) = rest.next() else { return Err(self.malformed("a call without a function")) };
        let arguments = rest.next_if(|text| text.starts_with('(')).and_then(inside);
        let (results, arguments) = (list(results), list(arguments));
        if let Some(Register { slot, ty, .. }) = self.lookup(name) {
            let slot = match ty.width() {
                64 => slot,
                32 => {
                    // A short address of a function, as it would be in 64 bits.
                    let wide = self.fresh(Width::Double);
                    let whole = |a: u32| (u64::from(a).wrapping_sub(SHORT_FUNCTION_BASE)).wrapping_add(FUNCTION_BASE);
                    self.compute(&unary(whole), &[wide], &[slot]);
                    wide
                }
                _ => {
                    return Err(self.malformed(format!("register `{name}` (.{}) cannot hold the address", ty.name())));
                }
            };
            self.builder.calls_by_address = true;
            let results = self.actuals(&results, None, true)?;
            let arguments = self.actuals(&arguments, None, false)?;
            let target = CallTarget::Indirect(slot);
            self.emit(Op::Call(Box::new(Call { target, arguments: arguments.into(), results: results.into() })));
            self.emit_join();
            return Ok(true);
        }
        let Some((index, function)) = self.callee(name) else { return Err(self.undeclared(name)) };
        if function.kind != FunctionKind::Func {
            return Err(self.malformed(format!("`{name}` is an entry: only functions can be called")));
        }
        let formals = |list: &[vop_ptx::module::Variable]| list.iter().flat_map(components).collect::<Vec<_>>();
        let (parameter_types, result_types) = (formals(&function.parameters), formals(&function.results));
        if (results.len(), arguments.len()) != (result_types.len(), parameter_types.len()) {
            return Err(self.malformed(format!(
                "`{name}` has {} parameters and {} results, the call {} and {}",
                parameter_types.len(),
                result_types.len(),
                arguments.len(),
                results.len()
            )));
        }
        let results = self.actuals(&results, Some(&result_types), true)?;
        let arguments = self.actuals(&arguments, Some(&parameter_types), false)?;
        if function.body.is_none() {
            let function = match name {
                "vprintf" => SystemFunction::Vprintf,
                "__assertfail" => SystemFunction::AssertFail,
                "malloc" => SystemFunction::Malloc { heap: self.builder.program.origin.heap as u32 },
                "free" => SystemFunction::Free { heap: self.builder.program.origin.heap as u32 },
                _ => return Err(self.without_body(name)),
            };
            if self.builder.program.is_short()
                && !matches!(function, SystemFunction::Vprintf | SystemFunction::AssertFail)
            {
                return Err(
                    self.unsupported(format!("`{name}` in a module of 32-bit addresses is not supported by vop run"))
                );
            }
            self.builder.kernel.uses_heap |=
                matches!(function, SystemFunction::Malloc { .. } | SystemFunction::Free { .. });
            let result = results.first().copied().unwrap_or(Actual::Nothing);
            self.emit(Op::System(Box::new(System { function, arguments: arguments.into(), result })));
            return Ok(true);
        }
        let target = CallTarget::Function(self.builder.function(index));
        self.emit(Op::Call(Box::new(Call { target, arguments: arguments.into(), results: results.into() })));
        self.emit_join();
        Ok(true)
    }

    /// The error for a call of a function that is only declared.
    fn without_body(&mut self, name: &str) -> RunError {
        let of_runtime = ["cudaLaunch", "cudaGetParameterBuffer", "cudaDevice", "cudaStream", "cudaEvent", "cudaGraph"];
        let launches = name.starts_with("__cudaCDP") || of_runtime.iter().any(|prefix| name.starts_with(prefix));
        if launches {
            return self.unsupported_construct(&format!("function `{name}` of the CUDA runtime"), LAUNCHES);
        }
        if name.starts_with("cudaCG") {
            return self.unsupported_construct(&format!("function `{name}` of the CUDA runtime"), HANDLES);
        }
        let error = self.unsupported(format!("function `{name}` has no body in this module"));
        let help = if name.starts_with("__nv_") {
            "it is a function of libdevice: let the compiler link that (nvcc does; clang and others take it as a bitcode file)"
        } else {
            "link the modules first; of the CUDA runtime vop run knows vprintf, __assertfail, malloc and free"
        };
        error.with_help(help)
    }

    /// The arguments or results of a call: `.param` variables, or registers and immediates.
    fn actuals(&mut self, texts: &[String], types: Option<&[Scalar]>, results: bool) -> Result<Vec<Actual>, RunError> {
        let mut actuals = Vec::new();
        for (i, text) in texts.iter().enumerate() {
            if text == "_" && results {
                actuals.push(Actual::Nothing);
                continue;
            }
            if let Some(register) = self.lookup(text) {
                let expected = types.and_then(|types| types.get(i)).map_or(register.ty.width(), |ty| ty.width());
                if register.high.is_some() || register.ty.width() != expected {
                    return Err(self.malformed(format!(
                        "register `{text}` is declared .{}, which is not what the function takes",
                        register.ty.name()
                    )));
                }
                actuals.push(Actual::Register(register.slot, width_of(register.ty)));
                continue;
            }
            if let Some(Variable::Stack(offset)) = self.variable(text, false)? {
                let module = self.builder.module;
                let bytes = module.variable(self.scope, text, self.span.start).and_then(|v| v.bytes());
                actuals.push(Actual::Stack { offset: offset as u32, bytes: bytes.unwrap_or(0) as u32 });
                continue;
            }
            let ty = types.and_then(|types| types.get(i)).copied().filter(|_| !results);
            let Some(ty) = ty else { return Err(self.undeclared(text)) };
            let slot = self.source(text, ty)?;
            actuals.push(Actual::Register(slot, width_of(ty)));
        }
        Ok(actuals)
    }
}
