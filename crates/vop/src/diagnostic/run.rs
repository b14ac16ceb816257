//! The codes of failures of kernels, V06xx: they are raised by the crate `vop-run`, and stand here so that all codes are in one
//! place and can be explained without an engine.

use super::Code;

macro_rules! kinds {
    ($($kind:ident $code:literal $title:literal $explanation:literal;)*) => {
        /// The kinds of failure, each with a stable code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum RunErrorKind {
            $(#[doc = concat!($title, ".")] $kind,)*
            /// A video instruction that the library refuses, with the library's own code.
            Video(Code),
        }

        impl RunErrorKind {
            /// All kinds of its own, without [`RunErrorKind::Video`], in the order of the table.
            pub const ALL: &'static [RunErrorKind] = &[$(RunErrorKind::$kind),*];

            /// The stable code.
            pub fn code(self) -> &'static str {
                match self {
                    $(RunErrorKind::$kind => $code,)*
                    RunErrorKind::Video(code) => code.name(),
                }
            }

            /// What it is, in a few words.
            pub fn title(self) -> &'static str {
                match self {
                    $(RunErrorKind::$kind => $title,)*
                    RunErrorKind::Video(code) => code.title(),
                }
            }

            /// What it means and what to do.
            pub fn explanation(self) -> &'static str {
                match self {
                    $(RunErrorKind::$kind => $explanation,)*
                    RunErrorKind::Video(code) => code.explanation(),
                }
            }

            /// The kind with this code, in either case; of the library's own codes see [`Code::from_name`].
            pub fn from_code(code: &str) -> Option<RunErrorKind> {
                $(if code.eq_ignore_ascii_case($code) {
                    return Some(RunErrorKind::$kind);
                })*
                None
            }
        }
    };
}

kinds! {
    Unsupported "V0601" "not supported by the executor"
        "The kernel may be right, but the executor does not know an instruction, a modifier, an operand or a declaration in it. The message names it, and what it is part of. One message stands for all statements of its kind. Nothing was run.";
    Malformed "V0602" "a statement that has no meaning"
        "The statement has the wrong operands, or registers that are not declared or have another width. If ptxas takes the statement, the executor is wrong about it: please report it.";
    UnknownEntry "V0603" "no such kernel"
        "The module has no `.entry` of this name. A C++ kernel is found by its mangled name and by that of the source, `scale(float*, int)`; `scale` alone suffices if no other kernel has it.";
    Argument "V0604" "arguments that do not fit the kernel"
        "A launch gives one argument for each `.param` of the entry, in order: a buffer for a pointer (`.u64`), a scalar of the parameter's size for others, such as `{ u32 = 640 }`.";
    LaunchShape "V0605" "grid, block or shared memory too large"
        "A launch has at least one block and one thread, and no more than CUDA and the kernel's own directives (`.maxntid`, `.reqntid`) allow.";
    OutOfBounds "V0606" "an access outside every buffer"
        "The address belongs to no buffer or variable, or the access goes beyond its end. The message names the nearest one. On a GPU such an access may have no visible effect.";
    Misaligned "V0607" "a misaligned address"
        "An access of n bytes needs an address that is a multiple of n; a vector access one that is a multiple of the whole vector's size.";
    Forbidden "V0608" "an access that is not allowed"
        "The kernel writes to memory that may only be read, or accesses an address through another state space than its own; or it passes a handle to a texture or surface instruction that is none, or one of another kind.";
    Limit "V0609" "limit of instructions reached"
        "A launch may execute a limited number of thread-instructions, so that an endless loop is noticed. What takes longer than its thread-instructions counts as more. `--limit` sets the number.";
    Timeout "V0630" "the time of a launch is over"
        "The launch has not ended after the time that `--timeout` or a launch file's `timeout` gives it.";
    Stopped "V0631" "a launch was stopped"
        "Ctrl-C, a signal or another thread has ended the launch. Memory holds what had been written until then, and nothing is saved.";
    Memory "V0632" "not enough memory"
        "Buffers, the module's variables, the heap of `malloc` (64 MiB, if a kernel that is launched may call `malloc` or `free`) and what a launch takes (registers, stacks and shared memory of the blocks that run at a time, what `printf` prints) go beyond the limit, or the system does not give so much. `--memory` sets the limit; three quarters of the machine's memory are the default. Fewer `--cores` and a smaller `--stack` take less.";
    Deadlock "V0610" "threads wait for each other"
        "Some threads of a block wait at a barrier that others never reach, for other threads of their warp, or in a loop for memory that no thread changes any more.";
    DivisionByZero "V0614" "division by zero"
        "An integer `div` or `rem` divides by zero. By the manual the result depends on the machine.";
    DivergentBarrier "V0615" "a barrier in divergent code"
        "`bar.sync`, as `__syncthreads()` compiles to, must be executed by all threads of a warp together. Here some of the warp's threads took another branch: on a GPU the kernel might hang or continue too early. `barrier.sync` without `.aligned` has no such rule.";
    StackOverflow "V0616" "stack overflow"
        "Nested calls need more than a thread's stack holds. It is 512 KiB, the most that a GPU gives, or what `--stack` says; on a GPU it is 1 KiB unless the program asks for more (`cudaLimitStackSize`).";
    Race "V0617" "a race"
        "Two threads reach one byte of shared or global memory, one of them writes, not both accesses are atomic, and nothing orders them: no barrier, no release that the other acquires. So their order is not defined. `--check races` looks for races.";
    Uninitialized "V0618" "memory read before it is written"
        "The content of shared memory is undefined when a block starts, and so is that of memory from `malloc` and of buffers without contents. `--check uninit` looks for such reads; without it, memory that was never written is zero.";
    MissingLane "V0620" "`shfl` reads a lane that does not take part"
        "The lane has ended, the mask does not name it, or the block does not have it. By the manual the result is undefined. Here it is 0, and a note says so; with `--check warp` it is an error:\n\n    // lanes 8 to 31 have ended\n    shfl.sync.down.b32 %r1, %r2, 16, 31, 0xff;";
    MaskMember "V0621" "a mask whose lanes do not come together"
        "All lanes that the mask of a `.sync` instruction names must execute it, with the same mask, and the mask must name the lane that executes it. `--check warp` looks for lanes that ended without coming, that came with another mask, or that their own mask does not name.";
    ActiveMask "V0622" "`activemask` taken for granted"
        "`activemask` gives the lanes that happen to execute it together, and lanes may run apart at any time. A mask from it is right where any set of lanes will do, as where a leader is found in the mask. It is wrong where `shfl` reads a lane whose number does not depend on the mask. `--check warp` looks for this.";
    HeapUse "V0623" "a wrong access to the heap"
        "The address belongs to an allocation of `malloc` that was freed, or is beyond the end of one. `--check heap` looks for such accesses; without it, the heap is one buffer.";
    Free "V0624" "a wrong `free`"
        "`malloc` did not return the address, or it was freed before. `--check heap` says where.";
    Leak "V0625" "allocations that are not freed"
        "`--check heap` lists what is still allocated from the heap of `malloc` when the last launch ends, by the place that allocated it.";
    Prototype "V0626" "a call by a wrong prototype"
        "A function is called by its address, and its parameters or results are not those of the prototype (`.callprototype`): their number or sizes differ. Most often a function pointer was converted to another type.";
    Trap "V0611" "the kernel trapped"
        "The kernel executed `trap`, as `assert` and `__trap()` do.";
    LaunchFile "V0612" "a launch file with an error"
        "A launch file is TOML: `ptx`, a table `[buffers]`, and one `[[launch]]` or more, each with `grid`, `block` and `args`:\n\n    ptx = \"kernel.ptx\"\n\n    [buffers]\n    # .npy, .png, or raw with `type` and perhaps `shape`\n    input  = { file = \"input.npy\" }\n    # zeros, saved to .npy or .png\n    output = { type = \"i32\", shape = [23, 40], save = \"output.npy\" }\n    best   = { type = \"u32\", shape = [4], fill = 99 }\n    weight = { type = \"f32\", values = [0.25, 0.5, 0.25] }\n    # compared after the run\n    right  = { type = \"f32\", shape = [9], expect = \"right.npy\", ulps = 2 }\n\n    # `.global` and `.const` variables of the module, named as in PTX or C++\n    [variables]\n    \"ns::table\" = { file = \"table.npy\" }\n    counter = { values = [7], save = \"counter.npy\" }\n\n    # arguments by their names are handles\n    [textures]\n    still = { file = \"still.png\", filter = \"linear\", read = \"normalized\" }\n\n    [surfaces]\n    canvas = { buffer = \"output\" }\n\n    [[launch]]\n    entry = \"kernel\"              # not needed if the module has no other\n    grid  = [40, 23]\n    block = 64\n    shared = 0                    # bytes of dynamic shared memory\n    check = [\"races\", \"uninit\"]   # as with `--check`, or \"all\"\n    args  = [\"input\", \"output\", \"best\", \"weight\", \"right\", { i32 = 640 }]\n\nA buffer that no launch uses is an error. `{ address = \"output\", offset = 64 }` is an address within a buffer or a variable. `for` repeats a launch with changing numbers, whose names stand where numbers are wanted:\n\n    for  = { size = { from = 2, to = 64, times = 2 } }\n    args = [\"output\", { u32 = \"size\" }]\n\nElement types are i8 to i64, u8 to u64, f16, f32 and f64. What is expected may be missed by `tolerance`, or for floats by `ulps`.";
    CommandLine "V0619" "an option that cannot be read"
        "`vop run kernel.ptx` takes `--grid`, `--block` and an `--arg` for each parameter of the kernel, in order:\n\n    --arg in=a.npy                  a buffer from a .npy or .png file\n    --arg in=u8[100]@a.raw          one from a raw file, with or without shape\n    --arg out=i32[920,2]            a buffer of zeros\n    --arg out=i32[920,2]=7          one whose elements are 7\n    --arg out=i32[920,2]:out.npy    the same, saved after the run\n    --arg in=a.npy:out.npy          read, and saved after the run\n    --arg out                       a buffer of an argument before, again, or\n                                    a variable that `--variable` names\n    --arg out+64                    its address and 64 bytes\n    --arg u32=640                   a number\n    --arg f32=0.5,1                 an array or structure passed by value\n\nTypes are i8 to i64, u8 to u64, f16, f32 and f64. `--variable` fills or saves a variable of the module, named as in PTX or C++:\n\n    --variable ns::table=a.npy      filled from a file\n    --variable table=f32:0.5,1      filled with values\n    --variable counter=u32:9:c.npy  filled, and saved after the run\n    --variable counter=:c.npy       saved after the run\n\n`--compare out=right.npy` compares a buffer with a file after the run.";
    Link "V0640" "modules that cannot be linked"
        "Modules that are loaded together define one `.visible` variable twice, or declare a variable `.extern` in another state space or of another size than the module that defines it. `vop_run::Memory::load` links modules.";
    File "V0613" "a file that cannot be read or written"
        "The file is missing or unreadable, its content is not what its name or its declaration says, or it cannot be written. Folders, devices, sockets and named pipes are refused before they are opened. Output is written to a temporary file and renamed, so that no part of it is left after a failure.";
}
