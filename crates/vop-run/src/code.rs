//! A kernel, decoded once: what the engine runs.
//!
//! A kernel and all functions that it may call are one list of [`Step`]s; a place in it is a `Pc`. Every operand is a [`Slot`], so the
//! engine never asks what an operand is.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use vop_ptx::module::{Module, Scalar, StatementKind, lex};

use crate::column::{Area, Loop, Operands, Slot, Width};
use crate::error::{Place, RunError, SourcePlace};
use crate::jit::known::Known;
use crate::jit::{Heat, Site};
use crate::level::Level;
use crate::memory::Space;
use crate::special::Special;
use crate::texture::op::TextureOp;
use crate::types::Kind;

/// Index of a step.
pub(crate) type Pc = u32;

/// Folds two values of one type, as bits: the operation of an atomic or a reduction.
pub(crate) type Fold = fn(u64, u64) -> u64;

/// One operation.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    /// What only computes.
    Compute {
        run: Loop,
        operands: Operands,
        linear: Linear,
        known: Known,
    },
    /// This step and some after it, without branches.
    Run(Run),
    /// A loop as one function, by its number: see [`jit`](crate::jit).
    Region(u32),
    /// Goes on `steps` steps later. The steps between were executed with samples, and `counts` of them count: see [`Sampled`].
    Skip {
        steps: u32,
        counts: u32,
    },
    /// What only computes, where ptxas's code disagrees with the manual.
    ComputeEither(Box<ComputeEither>),
    /// A video instruction.
    Video(Box<Video>),
    /// The divisor must not be zero.
    Divisor(Slot, Width),
    /// Paths of the code meet here, so threads may.
    Join,
    /// Go on at a step; where the step has a guard, threads may part.
    Branch(Pc),
    /// `brx.idx`: the step by index, an unsigned word.
    BranchIndexed {
        index: Slot,
        targets: Box<[Pc]>,
    },
    Load(Box<Load>),
    Store(Box<Store>),
    Atomic(Box<Atomic>),
    /// The address of what stands at this offset of the function's part of the stack, plus a constant for a generic address.
    StackAddress {
        d: Slot,
        width: Width,
        offset: u64,
    },
    /// What changes the size of the function's part of the stack.
    Stack(Box<StackChange>),
    Call(Box<Call>),
    /// `ret`; in a kernel the thread's end.
    Return,
    Exit,
    Barrier(Box<Barrier>),
    /// What the lanes of a warp do together.
    Warp(Box<Collective>),
    /// Writes a counter that runs: `%clock`, `%clock64`, `%globaltimer`.
    Clock {
        d: Slot,
        width: Width,
        high: bool,
    },
    /// What the CUDA runtime provides to kernels.
    System(Box<System>),
    AsyncCopy(Box<AsyncCopy>),
    /// What reaches a texture or a surface.
    Texture(Box<TextureOp>),
    /// The step that follows reads memory that others may change, as a loop does that waits for them; without an access, `nanosleep`.
    Poll(Option<Box<Access>>),
    /// Nothing to do where every write is seen at once; the check for races sees it.
    Fence(Fence),
    /// Nothing to do: prefetches.
    Nothing,
    /// `trap`, `brkpt`.
    Trap(&'static str),
}

/// Steps without branches, as machine code: see [`jit`](crate::jit).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Run {
    /// For all threads, and for those of a mask: each with how often it goes over them, see [`jit::phases`](crate::jit::phases).
    pub(crate) all: (RunLoop, u32),
    pub(crate) some: (RunLoop, u32),
    /// The threads of a turn of these functions.
    pub(crate) lanes: u32,
    /// How many steps further execution goes on.
    pub(crate) steps: u32,
    /// How many of them count beside this one, and how many the engine would execute.
    pub(crate) counts: u32,
    pub(crate) executed: u32,
    /// The number of the run among those with accesses, if it has any, and the first site that they have.
    pub(crate) loading: Option<u32>,
    pub(crate) site: u32,
    /// The number of video instructions in it.
    pub(crate) videos: u32,
    /// Whether its last step is a store.
    pub(crate) stores: bool,
    /// The number of the run without this store, for where the store reaches the allocation that a load of the run reads.
    pub(crate) otherwise: Option<u32>,
}

/// The type of a function of machine code, which returns how many turns are left. Where there is none, any convention will do.
macro_rules! function {
    ($(#[$doc:meta])* $name:ident($($argument:ident: $ty:ty),*)) => {
        $(#[$doc])*
        #[cfg(target_arch = "x86_64")]
        pub(crate) type $name = unsafe extern "sysv64" fn($($argument: $ty),*) -> usize;
        $(#[$doc])*
        #[cfg(not(target_arch = "x86_64"))]
        pub(crate) type $name = unsafe extern "C" fn($($argument: $ty),*) -> usize;
    };
}

function! {
    /// Of a run: the starts of the areas, the mask, the number of turns and the table of sites. See [`jit`](crate::jit).
    RunLoop(areas: *const *mut u8, mask: *const u8, turns: usize, sites: *mut Site)
}
function! {
    /// Of a region: the same, and the state. See [`jit::region`](crate::jit::region).
    RegionLoop(areas: *const *mut u8, mask: *const u8, turns: usize, sites: *mut Site, state: *mut u64)
}

/// A loop as one function: see [`jit::region`](crate::jit::region).
#[derive(Clone, Debug)]
pub(crate) struct Region {
    pub(crate) function: RegionLoop,
    /// The threads of a turn.
    pub(crate) lanes: u32,
    pub(crate) parts: Vec<RegionPart>,
    /// The steps where threads go on behind it.
    pub(crate) exits: Vec<Pc>,
    /// The number of the region among the runs and regions with accesses, if it has any.
    pub(crate) loading: Option<u32>,
    /// The columns that it writes.
    pub(crate) written: Vec<(Slot, Width)>,
    /// Whether threads that part from the others leave it.
    pub(crate) straight: bool,
    /// The number of its steady accesses.
    pub(crate) steady: u32,
    /// The rounds of loops that a call may make.
    pub(crate) rounds: u64,
    /// The step in whose place it is.
    pub(crate) instead: Step,
}

/// Steps of a region with a branch at their end, or none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegionPart {
    pub(crate) start: Pc,
    /// The step behind those before the branch.
    pub(crate) end: Pc,
    /// How many of these count, and how many are video instructions.
    pub(crate) counts: u32,
    pub(crate) videos: u32,
    /// Whether the branch counts for all threads, or for those that take it.
    pub(crate) counts_branch: bool,
    pub(crate) counts_taken: bool,
    /// In a straight region, the part where threads go on that do not leave, and whether those that leave take the branch.
    pub(crate) goes_to: Option<u32>,
    pub(crate) others_take: bool,
    /// The first site of its loads.
    pub(crate) site: u32,
}

/// Two readings of an instruction: the launch chooses.
#[derive(Clone, Debug)]
pub(crate) struct ComputeEither {
    pub(crate) manual: Loop,
    pub(crate) ptxas: Loop,
    pub(crate) operands: Operands,
}

#[derive(Clone, Debug)]
pub(crate) struct Video {
    /// Index into [`Kernel::videos`].
    pub(crate) form: u32,
    pub(crate) d: Slot,
    pub(crate) sources: [Slot; 3],
}

/// How an access is ordered with those of other threads (manual, "Memory Consistency Model"). Every write is seen at once here, so that
/// only the check for races asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) semantics: OrderSemantics,
    pub(crate) scope: Scope,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum OrderSemantics {
    #[default]
    Weak,
    /// Also `.volatile`, of the scope `.sys`.
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
}

impl OrderSemantics {
    pub(crate) fn acquires(self) -> bool {
        matches!(self, OrderSemantics::Acquire | OrderSemantics::AcquireRelease)
    }

    pub(crate) fn releases(self) -> bool {
        matches!(self, OrderSemantics::Release | OrderSemantics::AcquireRelease)
    }
}

/// The threads that an access or a fence is ordered with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Scope {
    /// Those of the block: `.cta`, and `.cluster`, as a cluster has one block.
    #[default]
    Block,
    /// Those of all blocks: `.gpu`, `.sys`.
    Device,
}

/// What orders memory accesses and makes none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fence {
    /// `fence`, `membar`.
    Memory(Scope),
    /// `cp.async.commit_group`.
    CommitGroup,
    /// `cp.async.wait_group`: waits until at most this many of the thread's groups have not been copied. `cp.async.wait_all` waits for
    /// copies that are in no group as well.
    WaitGroup { pending: u32, all: bool },
}

/// How memory is reached: the base, a column of addresses, plus the offset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Access {
    pub(crate) space: Space,
    /// Bytes that one thread reaches: the element times the vector. A power of two, and the alignment.
    pub(crate) bytes: u32,
    /// The base's column: none, a word or a double.
    pub(crate) width: Width,
    pub(crate) base: Slot,
    pub(crate) offset: u64,
    /// Whether the address is relative to the running function's part of the stack.
    pub(crate) in_frame: bool,
    /// Where samples give the base: the bytes from one thread of half a warp to the next.
    pub(crate) stride: Option<i32>,
    pub(crate) order: Order,
}

/// Bytes of a thread's stack that stand together; no access is wider or crosses from one to the next. Those of all threads follow
/// one another, so that the stack can grow and threads that work at the same depth are near each other.
pub(crate) const GRANULE: usize = 32;

/// The width of one element in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryWidth {
    Bits8,
    Bits16,
    Bits32,
    Bits64,
}

impl MemoryWidth {
    /// The number of widths.
    pub(crate) const COUNT: usize = 4;

    /// The width of a type of this many bits; a `.b128` is two elements of 64 bits.
    pub(crate) fn of_bits(bits: u32) -> MemoryWidth {
        match bits {
            0..=8 => MemoryWidth::Bits8,
            9..=16 => MemoryWidth::Bits16,
            17..=32 => MemoryWidth::Bits32,
            _ => MemoryWidth::Bits64,
        }
    }
}

/// What fills the upper bits of a word whose lower 8 or 16 bits were loaded: `((x ^ sign) - sign) & mask`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extension {
    /// The sign bit of the type in memory; 0 where zeros fill the word.
    pub(crate) sign: u32,
    /// The bits of the register: a register of 16 bits lives in a word, zero-extended.
    pub(crate) mask: u32,
}

impl Extension {
    /// Zeros fill the word.
    pub(crate) const ZEROS: Extension = Extension { sign: 0, mask: u32::MAX };

    /// A word from the bits that were loaded.
    #[inline(always)]
    pub(crate) fn of(self, x: u32) -> u32 {
        (x ^ self.sign).wrapping_sub(self.sign) & self.mask
    }
}

/// From memory to registers: elements of 64 bits to doubles, all others to words.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub(crate) access: Access,
    pub(crate) memory: MemoryWidth,
    pub(crate) extension: Extension,
    /// Destinations in the order of memory.
    pub(crate) d: Box<[Slot]>,
}

/// From registers to memory: the low bits of words, and doubles.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    pub(crate) access: Access,
    pub(crate) memory: MemoryWidth,
    /// In the order of memory.
    pub(crate) sources: Box<[Slot]>,
}

/// `d = [a]; [a] = f(d, b, c)` as one step. Values of 128 bits take two slots each, others the first of the two.
#[derive(Clone, Debug)]
pub(crate) struct Atomic {
    pub(crate) access: Access,
    pub(crate) kind: AtomicKind,
    pub(crate) width: Width,
    /// The destination of the old value; `red` has none.
    pub(crate) d: Option<[Slot; 2]>,
    pub(crate) sources: [[Slot; 2]; 2],
    /// What it does to an object of `mbarrier`, if it is for one.
    pub(crate) mbarrier: Option<MbarrierUse>,
}

/// What a thread does to an object of `mbarrier`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MbarrierUse {
    Arrive,
    /// `test_wait`, `try_wait`.
    Wait,
    /// `cp.async.mbarrier.arrive`: the thread's copies arrive.
    CopiesArrive,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum AtomicKind {
    Fold(Fold),
    /// At a generic address, where shared memory has another operation than global memory.
    FoldByPlace {
        shared: Fold,
        global: Fold,
    },
    Exchange,
    CompareAndSwap,
}

/// A call: its target, arguments and results.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) target: CallTarget,
    pub(crate) arguments: Box<[Actual]>,
    pub(crate) results: Box<[Actual]>,
}

/// What changes the size of a function's part of the stack. Addresses are of local memory, words or doubles.
#[derive(Clone, Copy, Debug)]
pub(crate) enum StackChange {
    /// `alloca`: room for a number of bytes, at a multiple of `align`, which is a power of two.
    Grow { d: Slot, bytes: Slot, width: Width, align: u32 },
    /// `stacksave`: where the part ends.
    Save { d: Slot, width: Width },
    /// `stackrestore`: the part ends where it did.
    Restore { saved: Slot, width: Width },
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum CallTarget {
    /// Index into [`Kernel::functions`].
    Function(u32),
    /// The function whose address the slot holds.
    Indirect(Slot),
}

/// An argument or result as the caller gives it; it pairs with a [`Formal`] by its index in the list.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Actual {
    /// A `.param` variable: where it stands in the caller's part of the stack.
    Stack { offset: u32, bytes: u32 },
    /// A register, special register or immediate.
    Register(Slot, Width),
    /// A result that is not used.
    Nothing,
}

/// A parameter or result as the function declares it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Formal {
    Stack { offset: u32, bytes: u32 },
    Register(Slot, Width),
}

/// A function, or the kernel itself: the first.
#[derive(Clone, Debug, Default)]
pub(crate) struct FunctionCode {
    pub(crate) name: String,
    pub(crate) start: Pc,
    pub(crate) parameters: Vec<Formal>,
    pub(crate) results: Vec<Formal>,
    /// Bytes a thread of its predicates, words and doubles.
    pub(crate) registers: [u32; 3],
    /// Bytes of the stack that it takes: `.local` and `.param` variables. A multiple of 32.
    pub(crate) stack: u32,
    /// Registers that may be read before anything is written to them: zero at the start.
    pub(crate) cleared: Vec<(Slot, Width)>,
}

#[derive(Clone, Debug)]
pub(crate) struct Barrier {
    pub(crate) id: Slot,
    /// The number of threads that it waits for; `None` stands for all of the block.
    pub(crate) count: Option<Slot>,
    pub(crate) kind: BarrierKind,
    /// Whether all threads of a warp must execute it together.
    pub(crate) aligned: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BarrierKind {
    Sync,
    /// Does not wait.
    Arrive,
    /// Writes the number of threads whose predicate is true to a word.
    Count {
        d: Slot,
        p: Slot,
    },
    /// Writes whether the predicates of all threads, or of any thread, are true.
    All {
        d: Slot,
        p: Slot,
    },
    Any {
        d: Slot,
        p: Slot,
    },
}

/// An operation of several lanes of a warp, made when every lane of `members` has arrived at it.
#[derive(Clone, Debug)]
pub(crate) struct Collective {
    pub(crate) kind: CollectiveKind,
    /// The value's destination, and the predicate's of `shfl`, `match` and `elect`.
    pub(crate) d: Slot,
    pub(crate) p: Slot,
    /// The lane's value, then `shfl`'s lane and clamp operands.
    pub(crate) sources: [Slot; 3],
    /// The lanes that take part; `None` stands for those that execute the instruction together.
    pub(crate) members: Option<Slot>,
    /// What `members` has to do with `activemask`.
    pub(crate) from_active: FromActive,
}

/// What the mask of a collective has to do with `activemask`: see [`active`](super::decode::active).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FromActive {
    /// Whether it may be what `activemask` gave.
    pub(crate) mask: bool,
    /// Whether what `activemask` gives is used for nothing but masks.
    pub(crate) only: bool,
    /// Whether the lane that `shfl` reads does not depend on what `activemask` gives.
    pub(crate) lane_is_free: bool,
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
    /// The lanes of this warp that are there.
    Active,
    MatchAny(Width),
    MatchAll(Width),
    /// Folds the lanes' values.
    Reduce(Fold),
    Elect,
}

/// A function that the CUDA runtime provides.
#[derive(Clone, Debug)]
pub(crate) struct System {
    pub(crate) function: SystemFunction,
    /// Where the arguments stand in the caller's part of the stack, or the registers that hold them.
    pub(crate) arguments: Box<[Actual]>,
    pub(crate) result: Actual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SystemFunction {
    Vprintf,
    AssertFail,
    /// From the heap, which is the allocation of this index.
    Malloc {
        heap: u32,
    },
    Free {
        heap: u32,
    },
}

/// A guard: the step is taken where the predicate is true, or false.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guard {
    pub(crate) slot: Slot,
    pub(crate) when: bool,
}

/// A part of a statement, ready to run.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) op: Op,
    pub(crate) guard: Option<Guard>,
    /// Index into [`Kernel::statements`].
    pub(crate) statement: u32,
    /// Whether executing the step counts as executing the statement: one step of each statement has it.
    pub(crate) counts: bool,
    /// Whether its results are part of the statement's, beside those of the steps before: `mov` to a vector.
    pub(crate) is_part: bool,
}

/// How a result follows from its sources a, b and c, up to multiples of two to the power of its width, if that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Linear {
    No,
    /// a + b, or a alone: operands that are not there read as zero.
    Sum,
    /// a - b
    Difference,
    /// a * b + c
    Product(Width),
    /// a * b + c, of words a and b to a double, with their signs or without.
    WideProduct {
        signed: bool,
    },
    /// a << b
    Shift,
    /// A double of a word.
    Extension,
    /// The low word of a double.
    Low,
    /// Whether a is on one side of b, by the order of numbers with a sign or without.
    Order {
        width: Width,
        signed: bool,
    },
}

/// How an operation touches a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Source,
    Result,
}

impl Op {
    /// Shows every slot of the operation, sources before results.
    pub(crate) fn slots(&mut self, see: &mut dyn FnMut(&mut Slot, Role)) {
        use Role::{Result, Source};
        let actual = |actual: &mut Actual, role, see: &mut dyn FnMut(&mut Slot, Role)| {
            if let Actual::Register(slot, _) = actual {
                see(slot, role);
            }
        };
        match self {
            Op::ComputeEither(compute) => {
                compute.operands.sources.iter_mut().for_each(|slot| see(slot, Source));
                compute.operands.results.iter_mut().for_each(|slot| see(slot, Result));
            }
            Op::Compute { operands, .. } => {
                operands.sources.iter_mut().for_each(|slot| see(slot, Source));
                operands.results.iter_mut().for_each(|slot| see(slot, Result));
            }
            Op::Video(video) => {
                video.sources.iter_mut().for_each(|slot| see(slot, Source));
                see(&mut video.d, Result);
            }
            Op::Divisor(slot, _) => see(slot, Source),
            Op::BranchIndexed { index, .. } => see(index, Source),
            Op::Load(load) => {
                see(&mut load.access.base, Source);
                load.d.iter_mut().for_each(|slot| see(slot, Result));
            }
            Op::Store(store) => {
                see(&mut store.access.base, Source);
                store.sources.iter_mut().for_each(|slot| see(slot, Source));
            }
            Op::Atomic(atomic) => {
                see(&mut atomic.access.base, Source);
                atomic.sources.as_flattened_mut().iter_mut().for_each(|slot| see(slot, Source));
                atomic.d.iter_mut().flatten().for_each(|slot| see(slot, Result));
            }
            Op::StackAddress { d, .. } | Op::Clock { d, .. } => see(d, Result),
            Op::Stack(change) => match &mut **change {
                StackChange::Grow { d, bytes, .. } => {
                    see(bytes, Source);
                    see(d, Result);
                }
                StackChange::Save { d, .. } => see(d, Result),
                StackChange::Restore { saved, .. } => see(saved, Source),
            },
            Op::Call(call) => {
                if let CallTarget::Indirect(slot) = &mut call.target {
                    see(slot, Source);
                }
                call.arguments.iter_mut().for_each(|argument| actual(argument, Source, see));
                call.results.iter_mut().for_each(|result| actual(result, Result, see));
            }
            Op::Barrier(barrier) => {
                see(&mut barrier.id, Source);
                barrier.count.iter_mut().for_each(|slot| see(slot, Source));
                match &mut barrier.kind {
                    BarrierKind::Sync | BarrierKind::Arrive => {}
                    BarrierKind::Count { d, p } | BarrierKind::All { d, p } | BarrierKind::Any { d, p } => {
                        see(p, Source);
                        see(d, Result);
                    }
                }
            }
            Op::Warp(collective) => {
                collective.sources.iter_mut().chain(&mut collective.members).for_each(|slot| see(slot, Source));
                see(&mut collective.d, Result);
                see(&mut collective.p, Result);
            }
            Op::System(system) => {
                system.arguments.iter_mut().for_each(|argument| actual(argument, Source, see));
                actual(&mut system.result, Result, see);
            }
            Op::AsyncCopy(copy) => {
                see(&mut copy.from.base, Source);
                see(&mut copy.to.base, Source);
                copy.source_bytes.iter_mut().for_each(|slot| see(slot, Source));
            }
            Op::Texture(texture) => texture.slots(see),
            Op::Poll(access) => access.iter_mut().for_each(|access| see(&mut access.base, Source)),
            Op::Skip { .. }
            | Op::Run(_)
            | Op::Region(_)
            | Op::Join
            | Op::Branch(_)
            | Op::Return
            | Op::Exit
            | Op::Fence(_)
            | Op::Nothing
            | Op::Trap(_) => {}
        }
    }

    /// The registers that the operation writes.
    pub(crate) fn results(&self) -> Vec<(Slot, Width)> {
        let mut results = Vec::new();
        self.clone().slots(&mut |slot, role| {
            if let (Role::Result, Some(width)) = (role, slot.register_width()) {
                results.push((*slot, width));
            }
        });
        results
    }

    /// Whether execution goes on at the next step.
    pub(crate) fn falls_through(&self) -> bool {
        !matches!(self, Op::Branch(_) | Op::BranchIndexed { .. } | Op::Return | Op::Exit | Op::Trap(_))
    }
}

/// `cp.async`: bytes from one space to another.
#[derive(Debug, Clone)]
pub(crate) struct AsyncCopy {
    pub(crate) from: Access,
    pub(crate) to: Access,
    /// The number of bytes to read, if the instruction has it; the others become zero.
    pub(crate) source_bytes: Option<Slot>,
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

impl Parameter {
    /// Where it stands in the parameter space, as in a buffer of all arguments.
    pub fn offset(&self) -> usize {
        self.offset
    }
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
    pub(crate) module: Arc<Module>,
    pub(crate) level: Level,
    pub(crate) steps: Vec<Step>,
    /// By step: the rank of its block of code. Threads at a lower rank run first, so that they meet the others.
    pub(crate) ranks: Vec<u32>,
    /// Indexes of the module's statements.
    pub(crate) statements: Vec<u32>,
    pub(crate) functions: Vec<FunctionCode>,
    /// The forms of its video instructions.
    pub(crate) videos: Vec<vop::Form>,
    /// The index of a function by the index of its definition among the module's functions, for calls by address.
    pub(crate) by_address: Vec<Option<u32>>,
    /// The program whose variables must be in the memory of a launch, if it has any.
    pub(crate) home: Option<u64>,
    /// Whether it keeps addresses of buffers, or generic addresses, in 32 bits.
    pub(crate) short: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) parameter_bytes: usize,
    /// The content of the block's area: immediates.
    pub(crate) constants: Vec<u8>,
    /// Special registers, and where their columns stand in the areas of the thread and of the block.
    pub(crate) specials: Vec<(Special, Slot, Width)>,
    /// Bytes a thread of the thread's area.
    pub(crate) thread_bytes: u32,
    /// Bytes of statically declared shared memory, after which the dynamic part starts.
    pub(crate) shared_bytes: usize,
    /// Whether it may call `malloc` or `free`.
    pub(crate) uses_heap: bool,
    /// Statements whose atomics make results depend on the order of blocks.
    pub(crate) ordered: Vec<u32>,
    /// `.reqntid`, `.maxntid`: what the block must be, or how many threads it may have.
    pub(crate) required_block: Option<[u32; 3]>,
    pub(crate) max_threads: Option<u64>,
    /// What [`Kernel::sampled`] is made from, and where it is kept.
    pub(crate) entry: Option<Arc<Entry>>,
    pub(crate) sampled: [OnceLock<Option<Sampled>>; 2],
    /// Where [`Kernel::merged`] is kept.
    pub(crate) merged: [OnceLock<Option<Merged>>; 2],
    /// See [`Kernel::keeps_apart`].
    pub(crate) apart: OnceLock<bool>,
    /// Its runs as machine code, once they pay.
    pub(crate) heat: Arc<Heat>,
}

/// The steps of a kernel's entry before its registers had columns, and which columns they got.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) steps: Vec<Step>,
    pub(crate) numbers: Numbers,
    /// By register: where its column starts in its area.
    pub(crate) offsets: Vec<u32>,
    /// Registers that may be read before they are written.
    pub(crate) entered: Vec<usize>,
}

/// Numbers for registers, before they have columns: predicates first, then words, then doubles.
#[derive(Clone, Debug)]
pub(crate) struct Numbers {
    /// The numbers of the first register of each width.
    starts: [usize; 3],
    total: usize,
}

impl Numbers {
    /// For this many predicates, words and doubles.
    pub(crate) fn new([predicates, words, doubles]: [usize; 3]) -> Numbers {
        Numbers { starts: [0, predicates, predicates + words], total: predicates + words + doubles }
    }

    /// The number of registers.
    pub(crate) fn total(&self) -> usize {
        self.total
    }

    /// The number of the register that a slot names by its index among those of its width.
    pub(crate) fn of(&self, slot: Slot) -> Option<usize> {
        let area = match slot.area() {
            Area::Predicates => 0,
            Area::Words => 1,
            Area::Doubles => 2,
            Area::Thread | Area::Block | Area::Samples => return None,
        };
        Some(self.starts[area] + slot.offset() as usize)
    }

    /// The slot at an offset in the area of the register with this number.
    pub(crate) fn slot(&self, number: usize, offset: u32) -> (Slot, Width) {
        if number >= self.starts[2] {
            (Slot::new(Area::Doubles, offset), Width::Double)
        } else if number >= self.starts[1] {
            (Slot::new(Area::Words, offset), Width::Word)
        } else {
            (Slot::new(Area::Predicates, offset), Width::Predicate)
        }
    }
}

/// Samples that steps read, and that differ between blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) slot: Slot,
    pub(crate) width: Width,
    /// From one thread of half a warp to the next.
    pub(crate) stride: i32,
    /// Whether all threads of the block have the same value.
    pub(crate) uniform: bool,
}

/// What samples must show of each half of a warp, or of each longer row of threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// A double that grows by this stride from thread to thread.
    Straight(Slot, i32),
    /// A word or double that is nowhere followed by the other end of its range, in the order with a sign or without.
    Ordered { slot: Slot, width: Width, signed: bool, falls: bool },
    /// A predicate that is the same for the first thread and the last.
    Flat(Slot),
}

/// A kernel whose entry leaves to samples what they can tell: see [`sample`](super::decode::sample).
#[derive(Clone, Debug, Default)]
pub(crate) struct Sampled {
    /// Instead of the kernel's, each at the same place.
    pub(crate) steps: Vec<Step>,
    /// What computes samples before a launch, and before each block.
    pub(crate) once: Vec<Op>,
    pub(crate) each: Vec<Op>,
    /// What these steps rely on: a block where it does not hold must execute the kernel's.
    pub(crate) claims: Vec<Claim>,
    /// What of it is not for other samples alone.
    pub(crate) read: Vec<Read>,
    /// Bytes of one sample of each value.
    pub(crate) bytes: u32,
}

/// A kernel whose blocks are run some at once: see [`merge`](super::decode::merge).
#[derive(Clone, Debug, Default)]
pub(crate) struct Merged {
    /// Instead of the kernel's, each at the same place.
    pub(crate) steps: Vec<Step>,
    pub(crate) sampled: Option<Sampled>,
    /// The axes of `%ctaid` that it reads, and where their columns stand in the thread's area.
    pub(crate) ctaids: Vec<(usize, Slot)>,
    /// Whether steps that rely on samples read `%ctaid` from there.
    pub(crate) needs_ctaids: bool,
    /// Bytes a thread of the thread's area.
    pub(crate) thread_bytes: u32,
    /// The number of threads that should run at once.
    pub(crate) lanes: usize,
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

    /// Bytes of the shared memory that it declares, without the dynamic part.
    pub fn shared_bytes(&self) -> usize {
        self.shared_bytes
    }

    /// The number of threads that a block may have at most, if it says so (`.maxntid`, `.reqntid`).
    pub fn max_threads(&self) -> Option<u64> {
        self.max_threads
    }

    /// What a block must be, if it says so (`.reqntid`).
    pub fn required_block(&self) -> Option<[u32; 3]> {
        self.required_block
    }

    /// Where a statement stands in the PTX.
    pub(crate) fn span(&self, statement: u32) -> Option<Range<usize>> {
        let index = *self.statements.get(statement as usize)?;
        Some(self.module.statements().get(index as usize)?.span.clone())
    }

    /// The place of a statement of the kernel, with the line of the source code that `.loc` says it was compiled from.
    #[cold]
    pub(crate) fn place(&self, statement: u32) -> Option<Place> {
        let mut place = Place::in_module(&self.module, self.span(statement)?);
        let index = *self.statements.get(statement as usize)?;
        place.source = self
            .module
            .source_line(index as usize)
            .map(|line| SourcePlace { file: line.file.to_owned(), line: line.line });
        Some(place)
    }

    /// The line of a place, for a sentence; with the column if other statements stand on the line.
    pub(crate) fn line_of(&self, place: &Place) -> String {
        let text = self.module.text();
        let (before, after) = (text.get(..place.span.start).unwrap_or(""), text.get(place.span.end..).unwrap_or(""));
        let before = before.rsplit('\n').next().unwrap_or("");
        let after = after.split('\n').next().unwrap_or("");
        match before.contains(';') || after.contains(';') {
            true => format!("line {}, column {}", place.line, place.column),
            false => format!("line {}", place.line),
        }
    }

    /// A statement's opcode with its modifiers.
    pub(crate) fn opcode(&self, statement: u32) -> String {
        let index = self.statements.get(statement as usize).copied().unwrap_or(0);
        match self.module.statements().get(index as usize).map(|statement| &statement.kind) {
            Some(StatementKind::Instruction { opcode, .. }) => {
                lex::without_trivia(self.module.slice(opcode)).into_owned()
            }
            _ => String::new(),
        }
    }

    /// Puts a step's place on an error.
    #[cold]
    pub(crate) fn locate(&self, error: RunError, pc: Pc) -> RunError {
        match self.steps.get(pc as usize).and_then(|step| self.place(step.statement)) {
            Some(place) => error.at(place),
            None => error,
        }
    }
}
