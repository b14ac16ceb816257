//! A module, or a source, with base instructions in the place of its video instructions: what `vop lower` writes.
//!
//! Each instruction that is replaced becomes a comment, followed by the [block](Block) that computes the same value. Where that
//! is allowed, the numbers of `.version` and `.target` are raised. Guards, labels, comments and every other byte stay.
//!
//! ```
//! use vop_ptx::module::Module;
//! use vop_ptx::rewrite::{RewriteOptions, rewrite};
//!
//! let source = ".version 9.2\n.target sm_120f\n.entry k()\n{\n    .reg .b32 a, b, c;\n    \
//!     vadd4.s32.s32.s32.sat c, a, b, c;\n}\n";
//! let rewritten = rewrite(&Module::parse(source), &RewriteOptions::new("sm_120f".parse().unwrap())).unwrap();
//! assert_eq!(
//!     String::from_utf8(rewritten.apply(source.as_bytes())).unwrap(),
//!     ".version 9.2\n.target sm_120f\n.entry k()\n{\n    .reg .b32 a, b, c;\n    \
//!     // vadd4.s32.s32.s32.sat c, a, b, c;\n    {\n        add.sat.s8x4 c, a, b;\n    }\n}\n"
//! );
//! assert_eq!((rewritten.instructions[0].before, rewritten.instructions[0].after), (45, 1));
//! ```

mod source;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use vop::ModuleTarget;
use vop::lower::{Block, LowerOptions, Lowering, Needs};
use vop::{Code, Diagnostic, Edit, Form, Parser, Semantics, Target};

use crate::edits;
use crate::module::{Module, RegistersAt, StatementKind, lex};
use crate::uses::{self, Verdict};

pub use source::{LeftInstruction, RewrittenSource, rewrite_source};

/// What a module is rewritten for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct RewriteOptions {
    /// The GPU.
    pub target: Target,
    /// Whether d is computed by the manual or as ptxas's code computes it.
    pub semantics: Semantics,
    /// Whether the module's `.version` and `.target` may be raised where cheaper instructions need it.
    pub may_raise: bool,
    /// Only the instruction that stands at this byte of the text is rewritten, and judged; all of them if there is none.
    pub only: Option<usize>,
}

impl RewriteOptions {
    /// The manual's semantics, for all instructions, and `.version` and `.target` stay.
    pub const fn new(target: Target) -> RewriteOptions {
        RewriteOptions { target, semantics: Semantics::Isa, may_raise: false, only: None }
    }

    /// With another semantics.
    #[must_use]
    pub const fn semantics(self, semantics: Semantics) -> RewriteOptions {
        RewriteOptions { semantics, ..self }
    }

    /// With or without the permission to raise `.version` and `.target`.
    #[must_use]
    pub const fn may_raise(self, may_raise: bool) -> RewriteOptions {
        RewriteOptions { may_raise, ..self }
    }

    /// For the one instruction that stands at a byte of the text.
    ///
    /// ```
    /// use vop_ptx::module::Module;
    /// use vop_ptx::rewrite::{RewriteOptions, rewrite};
    ///
    /// let source = ".reg .b32 a, b; vmin.u32.u32.u32 a, a, b; vmax.u32.u32.u32 a, a, b;";
    /// let options = RewriteOptions::new("sm_90".parse().unwrap()).only(source.find("vmax").unwrap());
    /// let rewritten = rewrite(&Module::parse(source), &options).unwrap().apply(source.as_bytes());
    /// assert!(rewritten.starts_with(b".reg .b32 a, b; vmin.u32.u32.u32 a, a, b; // vmax"));
    /// ```
    #[must_use]
    pub const fn only(self, at: usize) -> RewriteOptions {
        RewriteOptions { only: Some(at), ..self }
    }

    fn concerns(&self, span: &Range<usize>) -> bool {
        self.only.is_none_or(|at| span.contains(&at))
    }
}

/// The changes to a module, and the result for each video instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewritten {
    /// Every video instruction, in the module's order.
    pub instructions: Vec<Rewrite>,
    /// What the module's `.version` says.
    pub version: Option<(u8, u8)>,
    /// What its `.target` says; of several, the one that allows least.
    pub target: Option<ModuleTarget>,
    /// What these two become, if they are raised.
    pub raised: Vec<Raised>,
    /// Under the manual's semantics: V0701 where ptxas's code disagrees with the manual, so that the replacement changes the
    /// result; V0709 where only older releases disagree. Positions are the module's.
    pub warnings: Vec<Diagnostic>,
    /// In ascending order.
    edits: Vec<Edit>,
}

/// What is done with a video instruction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rewrite {
    /// Where it stands in the module, in bytes.
    pub span: Range<usize>,
    /// What it is.
    pub form: Form,
    /// The block that replaces it; `None` if it stays as it is.
    pub block: Option<Block>,
    /// The rule that wrote the block, or `keep`.
    pub rule: &'static str,
    /// The number of machine instructions that ptxas emits for it: [`Form::cost`].
    pub before: u32,
    /// The number of machine instructions that ptxas emits for the replacement.
    pub after: u32,
    /// What the block needs of a module, if it is replaced.
    pub needs: Option<Needs>,
    /// A cost less than `after` that a newer `.version` or `.target` would give, and which.
    pub cheaper: Option<(u32, Needs)>,
}

/// A directive that is raised.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Raised {
    /// `.version` or `.target`.
    pub directive: &'static str,
    /// What it says.
    pub from: String,
    /// What it says then.
    pub to: String,
}

/// Why a module is not rewritten.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RewriteError {
    /// The module's `.target` says that it does not run on the GPU.
    Target {
        /// What `.target` says.
        module: ModuleTarget,
        /// The GPU.
        target: Target,
        /// Where `.target` says it.
        span: Range<usize>,
    },
    /// The module's `.target` names no architecture.
    UnknownTarget {
        /// Where.
        span: Range<usize>,
    },
    /// Instructions are illegal: why, with positions in the module.
    Illegal(Vec<Diagnostic>),
    /// No rule that may be used computes what the semantics says, and ptxas's own code does not either.
    NoRule {
        /// The first instruction for which this holds.
        form: Form,
        /// Where it stands.
        span: Range<usize>,
        /// What the module would have to allow for a rule to apply, if there is such a rule.
        needs: Option<Needs>,
    },
}

impl fmt::Display for RewriteError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RewriteError::Target { module, target, .. } => {
                write!(f, "the module's `.target` is {module}, and such a module does not run on {target}")
            }
            RewriteError::UnknownTarget { .. } => {
                f.write_str("the module's `.target` names no architecture such as sm_90")
            }
            RewriteError::Illegal(faults) => match &faults[..] {
                [only] => write!(f, "{only}"),
                [first, ..] => write!(f, "{first}, and {} faults more", faults.len() - 1),
                [] => f.write_str("an instruction is illegal"),
            },
            RewriteError::NoRule { form, needs: None, .. } => {
                write!(f, "ptxas's code for `{form}` computes something else than asked for, and no rule does it")
            }
            RewriteError::NoRule { form, needs: Some(needs), .. } => {
                let ((major, minor), target) = (needs.version, needs.module_target());
                write!(
                    f,
                    "ptxas's code for `{form}` computes something else than asked for, and what does needs \
                     `.version {major}.{minor}` and `.target {target}`"
                )
            }
        }
    }
}

impl std::error::Error for RewriteError {}

/// Replaces each video instruction of a module by the cheapest base instructions that compute the same value.
///
/// An instruction stays if that is not more expensive. Only instructions that the module's `.version` and `.target` allow are
/// used, unless [`may_raise`](RewriteOptions::may_raise) is set. A module without these directives allows all that the GPU has.
/// In a function that reads the carry flag, no instruction that writes it is used.
///
/// # Errors
/// The module is not for this GPU; an instruction is illegal; or an instruction cannot be replaced under these options, and
/// ptxas's code for it disagrees with the semantics.
pub fn rewrite(module: &Module, options: &RewriteOptions) -> Result<Rewritten, RewriteError> {
    let directives = Directives::of(module)?;
    if let Some((span, target)) = directives.targets.iter().find(|(_, target)| !target.runs_on(options.target)) {
        return Err(RewriteError::Target { module: *target, target: options.target, span: span.clone() });
    }
    let mut uses = uses::in_module(module);
    uses.retain(|found| options.concerns(&found.span));
    let faults = |verdict: &Verdict| if let Verdict::Illegal(faults) = verdict { faults.clone() } else { Vec::new() };
    let faults: Vec<Diagnostic> = uses.iter().flat_map(|found| faults(&found.verdict)).collect();
    if !faults.is_empty() {
        return Err(RewriteError::Illegal(faults));
    }

    let mut plans = Plans::new(*options, &directives);
    let mut rewritten = Rewritten {
        instructions: Vec::new(),
        version: directives.version.as_ref().map(|(_, version)| *version),
        target: directives.target(),
        raised: Vec::new(),
        warnings: Vec::new(),
        edits: Vec::new(),
    };
    let mut needs = Needs::NOTHING;
    let newline = edits::newline(module.text().as_bytes());
    let carries = functions_that_read_the_carry(module);
    let mut statements = module.statements().iter();
    for found in uses {
        let Some(statement) = statements.find(|statement| statement.span == found.span) else { continue };
        let registers = RegistersAt { module, scope: statement.scope, at: statement.span.start };
        let text = module.slice(&statement.span);
        // It has been found legal.
        let Ok(instruction) = Parser::new().with_registers(&registers).parse(text) else { continue };
        let form = instruction.form;
        let may_write_carry = statement.function.is_none_or(|function| !carries[function]);
        let Plan { lowering, cheaper } = plans.plan(form, may_write_carry);
        if !lowering.exact {
            let needs = cheaper.map(|(_, needs)| needs);
            return Err(RewriteError::NoRule { form, span: found.span, needs });
        }
        let needed = lowering.sequence.as_ref().map(|sequence| sequence.needs());
        let block = lowering.sequence.as_ref().map(|sequence| {
            needs = needs.and(sequence.needs());
            lowering.block(&instruction, &registers)
        });
        if let Some(block) = &block {
            replace(module, &found.span, block, newline, &mut rewritten.edits);
        }
        if options.semantics == Semantics::Isa {
            let differs = |lint: &Diagnostic| matches!(lint.code, Code::V0701 | Code::V0709);
            let warnings = found.lints.into_iter().filter(differs).map(|lint| warning(lint, block.is_some()));
            rewritten.warnings.extend(warnings);
        }
        let (before, after) = (form.cost(options.target), lowering.cost);
        rewritten.instructions.push(Rewrite {
            span: found.span,
            form,
            block,
            rule: lowering.rule,
            before,
            after,
            needs: needed,
            cheaper: *cheaper,
        });
    }
    raise(module, &directives, needs, &mut rewritten);
    rewritten.edits.sort_by_key(|edit| edit.span.start);
    Ok(rewritten)
}

impl Rewritten {
    /// Applies the changes to the bytes that the module was read from. Bytes that are not UTF-8, which the module does not hold,
    /// stay.
    ///
    /// # Panics
    /// If the text is not the one that the module was read from, and shorter.
    pub fn apply(&self, source: &[u8]) -> Vec<u8> {
        edits::applied(source, &self.edits)
    }

    /// Whether nothing is changed.
    pub fn is_empty(&self) -> bool {
        self.edits.is_empty()
    }
}

/// The `.version` and the `.target`s of a module, each with the place of what it says. Each `.target` limits what stands behind it.
struct Directives {
    version: Option<(Range<usize>, (u8, u8))>,
    targets: Vec<(Range<usize>, ModuleTarget)>,
}

impl Directives {
    fn of(module: &Module) -> Result<Directives, RewriteError> {
        // What each directive of a name says first, and where.
        let said = |wanted: &str| {
            let all = module.statements().iter().filter_map(|statement| match &statement.kind {
                StatementKind::Directive { name, arguments } if module.slice(name) == wanted => {
                    let first = lex::split_operands(module.slice(arguments)).next()?;
                    Some(arguments.start + first.start..arguments.start + first.end)
                }
                _ => None,
            });
            all.collect::<Vec<_>>()
        };
        let number = |number: u32| u8::try_from(number).unwrap_or(u8::MAX);
        let version = module.version().map(|(major, minor)| (number(major), number(minor)));
        let targets = said(".target").into_iter().map(|place| match module.slice(&place).parse() {
            Ok(target) => Ok((place, target)),
            Err(_) => Err(RewriteError::UnknownTarget { span: place }),
        });
        Ok(Directives {
            version: said(".version").into_iter().next().zip(version),
            targets: targets.collect::<Result<_, _>>()?,
        })
    }

    /// The one that allows least.
    fn target(&self) -> Option<ModuleTarget> {
        self.targets.iter().map(|(_, target)| *target).min()
    }
}

/// What is done with a form.
struct Plan {
    lowering: Lowering,
    cheaper: Option<(u32, Needs)>,
}

/// What is done with each form, found once.
struct Plans {
    may_raise: bool,
    within: LowerOptions,
    beyond: LowerOptions,
    known: HashMap<(Form, bool), Plan>,
}

impl Plans {
    fn new(options: RewriteOptions, directives: &Directives) -> Plans {
        let beyond = LowerOptions::new(options.target).with_semantics(options.semantics);
        let mut within = beyond;
        if let Some((_, version)) = directives.version {
            within.version = version;
        }
        within.module = directives.target();
        Plans { may_raise: options.may_raise, within, beyond, known: HashMap::new() }
    }

    fn plan(&mut self, form: Form, may_write_carry: bool) -> &Plan {
        let Plans { may_raise, within, beyond, known } = self;
        known.entry((form, may_write_carry)).or_insert_with(|| {
            let lowering = form.lower(within.with_carry(may_write_carry));
            let best = form.lower(beyond.with_carry(may_write_carry));
            let needs = best.sequence.as_ref().map(|sequence| sequence.needs());
            let needs = needs.filter(|_| best.cost < lowering.cost || best.exact && !lowering.exact);
            match needs {
                Some(_) if *may_raise => Plan { lowering: best, cheaper: None },
                needs => Plan { lowering, cheaper: needs.map(|needs| (best.cost, needs)) },
            }
        })
    }
}

/// By function, whether an instruction in it reads the carry flag.
fn functions_that_read_the_carry(module: &Module) -> Vec<bool> {
    let mut functions = vec![false; module.functions().len()];
    for statement in module.statements() {
        let StatementKind::Instruction { opcode, .. } = &statement.kind else { continue };
        let name = module.slice(opcode).split(|c: char| !c.is_ascii_alphanumeric()).next();
        if let (Some("addc" | "subc" | "madc"), Some(function)) = (name, statement.function) {
            functions[function] = true;
        }
    }
    functions
}

/// Makes a comment of an instruction, and writes a block behind it.
fn replace(module: &Module, span: &Range<usize>, block: &Block, newline: &str, edits: &mut Vec<Edit>) {
    let text = module.text();
    let mut insert = |at: usize, text: String| edits.push(Edit::new(at..at, text));
    let is_blank = |c: char| matches!(c, ' ' | '\t');
    insert(span.start, "// ".to_owned());
    // A comment ends where its line does.
    for (at, _) in module.slice(span).match_indices('\n') {
        let line = &text[span.start + at + 1..];
        let blanks = line.len() - line.trim_start_matches(is_blank).len();
        let is_empty = line[blanks..].starts_with(['\r', '\n']);
        insert(span.start + at + 1 + blanks, if is_empty { "//" } else { "// " }.to_owned());
    }
    let line = &text[text[..span.start].rfind('\n').map_or(0, |newline| newline + 1)..];
    let indent = &line[..line.len() - line.trim_start_matches(is_blank).len()];
    insert(span.end, format!("{newline}{indent}{}", block.indented(indent, newline)));
}

/// What is said of an instruction whose two semantics differ.
fn warning(mut lint: Diagnostic, replaced: bool) -> Diagnostic {
    let help = match (lint.code, replaced) {
        (Code::V0701, _) => "`--semantics ptxas` keeps what ptxas's code computes",
        (_, true) => "`--semantics ptxas-12.4` keeps what the older code computes",
        (_, false) => "assemble it with ptxas 13.3 or later",
    };
    lint.help = Some(help.to_owned());
    lint
}

/// Raises `.version` and `.target` to what is needed.
fn raise(module: &Module, directives: &Directives, needs: Needs, rewritten: &mut Rewritten) {
    let mut raise = |directive, range: &Range<usize>, to: String| {
        let from = module.slice(range).to_owned();
        rewritten.edits.push(Edit::new(range.clone(), to.clone()));
        rewritten.raised.push(Raised { directive, from, to });
    };
    if let Some((range, version)) = &directives.version
        && *version < needs.version
    {
        raise(".version", range, format!("{}.{}", needs.version.0, needs.version.1));
    }
    for (range, _) in directives.targets.iter().filter(|(_, target)| !needs.met_by(*target)) {
        raise(".target", range, needs.module_target().to_string());
    }
}
