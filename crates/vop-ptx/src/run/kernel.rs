//! A kernel, decoded once: what the executor runs.
//!
//! Every operand is a *slot* of the thread's register file. Behind the declared registers come slots for the special registers
//! and for the immediates that the kernel uses, filled when a thread starts; so the executor never asks what an operand is.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::compute::Compute;
use super::error::{Place, RunError};
use super::memory::Space;
use super::types::Kind;
use crate::module::Scalar;

/// Index into a thread's register file.
pub(crate) type Slot = u32;

/// One operation of a statement.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// `d = f(sources)`.
    Compute { f: Compute, d: Slot, sources: [Slot; 4] },
    /// A video instruction.
    Video { form: vop::Form, d: Slot, sources: [Slot; 3] },
    /// Vector elements in the order of memory.
    Load { access: Access, d: Box<[Slot]> },
    /// The same for a store.
    Store { access: Access, sources: Box<[Slot]> },
    /// `d = [a]; [a] = f(d, sources)`, as one step.
    Atomic { f: Compute, access: Access, d: Slot, sources: [Slot; 2] },
    /// Go on at a step.
    Branch(u32),
    /// Wait for the block at the barrier whose number the slot holds.
    Barrier(Slot),
    /// Exchange with the other lanes of the warp.
    Warp(Box<Collective>),
    /// Several operations under one guard.
    Sequence(Box<[Op]>),
    /// The thread's end.
    Exit,
    /// `trap`: the kernel gives up.
    Trap,
}

/// How memory is reached.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) space: Space,
    /// Bytes of one element.
    pub(crate) bytes: u8,
    /// Bits of the destination register if the element is sign-extended to them, else 0.
    pub(crate) extend: u8,
    /// Whether the address wraps at 32 bits, as its register does.
    pub(crate) narrow: bool,
    /// Address: the sum of two slots.
    pub(crate) base: Slot,
    pub(crate) offset: Slot,
}

/// An operation of several lanes of a warp, made when every lane of `members` has arrived at it.
#[derive(Clone, Debug)]
pub(crate) struct Collective {
    pub(crate) kind: CollectiveKind,
    /// The value's destination, and the predicate's of `shfl`.
    pub(crate) d: Slot,
    pub(crate) p: Slot,
    /// The lane's value, then `shfl`'s lane and clamp operands; `vote` takes the exclusive or of the first two.
    pub(crate) sources: [Slot; 3],
    pub(crate) members: Slot,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum CollectiveKind {
    Sync,
    ShuffleUp,
    ShuffleDown,
    ShuffleButterfly,
    ShuffleIndex,
    All,
    Any,
    Uniform,
    Ballot,
    /// Folds the lanes' values with the function.
    Reduce(Compute),
}

/// A guard: the step is taken where the predicate's slot holds this truth.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    pub(crate) slot: Slot,
    pub(crate) when: bool,
}

/// One statement, ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) guard: Option<Guard>,
    pub(crate) op: Op,
    /// Index into [`Kernel::statements`].
    pub(crate) statement: u32,
}

/// What a special register's slot holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    Tid(usize),
    Ntid(usize),
    Ctaid(usize),
    Nctaid(usize),
    Laneid,
    Warpid,
    Nwarpid,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    DynamicSharedSize,
    TotalSharedSize,
    GridId,
}

/// A parameter of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name in the PTX.
    pub name: String,
    /// The type of one element.
    pub ty: Scalar,
    /// Its size: more than the type's for an array, which is how a structure is passed.
    pub bytes: usize,
    /// Where it stands in the parameter space.
    pub(crate) offset: usize,
}

impl fmt::Display for Parameter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.bytes == self.ty.size() {
            write!(f, "`{}` (.{})", self.name, self.ty.name())
        } else {
            write!(f, "`{}` ({} bytes)", self.name, self.bytes)
        }
    }
}

/// An entry of a module, decoded and ready to launch; see [`Kernel::launch`].
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(crate) name: String,
    pub(crate) source: Arc<str>,
    pub(crate) steps: Vec<Step>,
    pub(crate) statements: Vec<Range<usize>>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) parameter_bytes: usize,
    /// The register file that a thread starts with.
    pub(crate) registers: Vec<u64>,
    pub(crate) specials: Vec<(Slot, Special)>,
    /// Bytes of statically declared shared memory, after which the dynamic part starts.
    pub(crate) shared_bytes: usize,
    pub(crate) local_bytes: usize,
    /// `.reqntid`, `.maxntid`: what the block must be, or how many threads it may have.
    pub(crate) required_block: Option<[u32; 3]>,
    pub(crate) max_threads: Option<u64>,
}

impl Kernel {
    /// The entry's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The parameters in order.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Puts a step's place on an error.
    #[cold]
    pub(crate) fn locate(&self, error: RunError, step: &Step) -> RunError {
        match self.statements.get(step.statement as usize) {
            Some(span) => error.at(Place::new(&self.source, span.clone())),
            None => error,
        }
    }
}
