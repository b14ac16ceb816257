//! Special registers: their names, and what each holds.
//!
//! The one list of them: the decoder asks [`Special::named`], the engine asks for values.

use crate::column::WARP;

/// What a special register's column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    /// `%tid`: the axis.
    Tid(usize),
    Laneid,
    Warpid,
    LaneMaskEq,
    LaneMaskLe,
    LaneMaskLt,
    LaneMaskGe,
    LaneMaskGt,
    /// `%ntid`: the axis.
    Ntid(usize),
    /// `%ctaid`: the axis.
    Ctaid(usize),
    /// `%nctaid`: the axis.
    Nctaid(usize),
    Nwarpid,
    /// Where the dynamic part of shared memory starts.
    DynamicShared,
    DynamicSharedSize,
    TotalSharedSize,
    /// `%envreg1` and `%envreg2`: the words of the address of the grid's workspace, or zero.
    Workspace {
        high: bool,
    },
    /// Always zero: `%gridid`, `%smid`, and what a machine without clusters says of them.
    Zero,
    /// Always one: `%nsmid`, `%cluster_nctaid`.
    One,
}

/// What a name that starts with `%` and is not declared stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Special(Special),
    /// The start of the part of shared memory that system software keeps; or its end.
    ReservedShared {
        end: bool,
    },
    /// A counter that runs: its low word or all of it, or its high word.
    Clock {
        high: bool,
    },
}

/// The vectors among special registers, without their `%`.
const VECTORS: [&str; 8] =
    ["tid", "ntid", "ctaid", "nctaid", "clusterid", "nclusterid", "cluster_ctaid", "cluster_nctaid"];

impl Special {
    /// Whether this is the name of a vector of four special registers.
    pub(crate) fn is_vector(name: &str) -> bool {
        name.strip_prefix('%').is_some_and(|name| VECTORS.contains(&name))
    }

    /// What a special register's name means, without its `%`; `None` if it is not the name of one.
    pub(crate) fn named(name: &str) -> Option<Named> {
        if let Some((name, suffix)) = name.split_once('.') {
            let axis = ["x", "y", "z", "w"].iter().position(|axis| *axis == suffix)?;
            let special = match name {
                "tid" => Special::Tid(axis),
                "ntid" => Special::Ntid(axis),
                // Without clusters every block is a cluster of its own.
                "ctaid" | "clusterid" => Special::Ctaid(axis),
                "nctaid" | "nclusterid" => Special::Nctaid(axis),
                "cluster_ctaid" => Special::Zero,
                "cluster_nctaid" => Special::One,
                _ => return None,
            };
            // The fourth component is there and is zero.
            return Some(Named::Special(if axis == 3 { Special::Zero } else { special }));
        }
        // Registers that the environment and the counters of a GPU set: 0, as where nothing sets them.
        let number = |prefix: &str, count: u32| {
            let digits = name.strip_prefix(prefix)?;
            let number: u32 = digits.parse().ok()?;
            (digits == number.to_string() && number < count).then_some(number)
        };
        match number("envreg", 32) {
            Some(number @ (1 | 2)) => return Some(Named::Special(Special::Workspace { high: number == 1 })),
            Some(_) => return Some(Named::Special(Special::Zero)),
            None => {}
        }
        if number("pm", 8).is_some() || (0..8).any(|i| name == format!("pm{i}_64")) {
            return Some(Named::Special(Special::Zero));
        }
        Some(Named::Special(match name {
            "laneid" => Special::Laneid,
            "warpid" => Special::Warpid,
            "nwarpid" => Special::Nwarpid,
            "lanemask_eq" => Special::LaneMaskEq,
            "lanemask_le" => Special::LaneMaskLe,
            "lanemask_lt" => Special::LaneMaskLt,
            "lanemask_ge" => Special::LaneMaskGe,
            "lanemask_gt" => Special::LaneMaskGt,
            "dynamic_smem_size" => Special::DynamicSharedSize,
            "total_smem_size" | "aggr_smem_size" => Special::TotalSharedSize,
            "current_graph_exec" | "gridid" | "smid" | "cluster_ctarank" | "is_explicit_cluster" => Special::Zero,
            "nsmid" | "cluster_nctarank" => Special::One,
            "reserved_smem_offset_begin" | "reserved_smem_offset_0" | "reserved_smem_offset_1" => {
                return Some(Named::ReservedShared { end: false });
            }
            "reserved_smem_offset_end" | "reserved_smem_offset_cap" => {
                return Some(Named::ReservedShared { end: true });
            }
            "clock" | "clock_hi" | "clock64" | "globaltimer" | "globaltimer_lo" | "globaltimer_hi" => {
                return Some(Named::Clock { high: name.ends_with("hi") });
            }
            _ => return None,
        }))
    }

    /// Whether it differs between the blocks of a launch.
    pub(crate) fn is_of_block(self) -> bool {
        matches!(self, Special::Ctaid(_))
    }

    /// Whether it differs between the threads of a block.
    pub(crate) fn is_of_thread(self) -> bool {
        use Special::*;
        matches!(self, Tid(_) | Laneid | Warpid | LaneMaskEq | LaneMaskLe | LaneMaskLt | LaneMaskGe | LaneMaskGt)
    }

    /// The value that it has for a thread, where it differs between threads.
    pub(crate) fn of_thread(self, thread: usize, shape: &Shape) -> u32 {
        let [x, y, _] = shape.block.map(|n| n as usize);
        let lane = (thread % WARP) as u32;
        match self {
            // In blocks of one row samples may be of threads beyond the last, which go on as the row does.
            Special::Tid(0) if shape.threads() == x => thread as u32,
            Special::Tid(_) if shape.threads() == x => 0,
            Special::Tid(0) => (thread % x) as u32,
            Special::Tid(1) => (thread / x % y) as u32,
            Special::Tid(_) => (thread / (x * y)) as u32,
            Special::Laneid => lane,
            Special::Warpid => (thread / WARP) as u32,
            Special::LaneMaskEq => 1 << lane,
            Special::LaneMaskLt => (1 << lane) - 1,
            Special::LaneMaskLe => (1 << lane) | ((1 << lane) - 1),
            Special::LaneMaskGe => !((1 << lane) - 1),
            Special::LaneMaskGt => !((1 << lane) | ((1 << lane) - 1)),
            _ => 0,
        }
    }

    /// The value that it has in a block, where all threads of a block have the same.
    pub(crate) fn of_block(self, ctaid: [u32; 3], shape: &Shape) -> u32 {
        match self {
            Special::Ntid(axis) => shape.block[axis],
            Special::Ctaid(axis) => ctaid[axis],
            Special::Nctaid(axis) => shape.grid[axis],
            Special::Nwarpid => shape.threads().div_ceil(WARP) as u32,
            Special::DynamicShared => shape.static_shared as u32,
            Special::DynamicSharedSize => shape.dynamic_shared as u32,
            Special::TotalSharedSize => shape.shared() as u32,
            Special::Workspace { high: true } => (shape.workspace >> 32) as u32,
            Special::Workspace { high: false } => shape.workspace as u32,
            Special::One => 1,
            _ => 0,
        }
    }
}

/// The sizes of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Blocks: x, y, z.
    pub(crate) grid: [u32; 3],
    /// Threads of a block: x, y, z.
    pub(crate) block: [u32; 3],
    /// Bytes of shared memory that the kernel declares, and that the launch adds.
    pub(crate) static_shared: usize,
    pub(crate) dynamic_shared: usize,
    /// The address of the grid's workspace, where blocks wait for one another; zero if the launch is not cooperative.
    pub(crate) workspace: u64,
}

impl Shape {
    /// The number of blocks.
    pub(crate) fn blocks(&self) -> u64 {
        self.grid.iter().map(|n| u64::from(*n)).product()
    }

    /// The number of threads of a block.
    pub(crate) fn threads(&self) -> usize {
        self.block.iter().map(|n| *n as usize).product()
    }

    /// The number of threads of a block, padded to whole warps.
    pub(crate) fn lanes(&self) -> usize {
        self.threads().next_multiple_of(WARP)
    }

    /// The number of threads, with padding, that follow one another in a row of the block: over which `%tid.x` is a straight line and the other
    /// axes are the same.
    pub(crate) fn row(&self) -> usize {
        if self.threads() == self.block[0] as usize { self.lanes() } else { self.block[0] as usize }
    }

    /// Bytes of a block's shared memory.
    pub(crate) fn shared(&self) -> usize {
        self.static_shared + self.dynamic_shared
    }

    /// Where a block stands in the grid.
    pub(crate) fn ctaid(&self, index: u64) -> [u32; 3] {
        let [x, y, _] = self.grid.map(u64::from);
        [index % x, index / x % y, index / (x * y)].map(|n| n as u32)
    }

    /// The number of the block that stands there: what [`Shape::ctaid`] turns into a place.
    pub(crate) fn index_of(&self, ctaid: [u32; 3]) -> u64 {
        let [width, height, _] = self.grid.map(u64::from);
        let [x, y, z] = ctaid.map(u64::from);
        x + width * (y + height * z)
    }

    /// The place of the block behind a block.
    pub(crate) fn next_ctaid(&self, [x, y, z]: [u32; 3]) -> [u32; 3] {
        match (x + 1 < self.grid[0], y + 1 < self.grid[1]) {
            (true, _) => [x + 1, y, z],
            (false, true) => [0, y + 1, z],
            (false, false) => [0, 0, z + 1],
        }
    }

    /// Where a thread stands in its block.
    pub(crate) fn tid(&self, thread: usize) -> [u32; 3] {
        let [x, y, _] = self.block.map(|n| n as usize);
        [thread % x, thread / x % y, thread / (x * y)].map(|n| n as u32)
    }

    /// The index in its block of the thread that stands there.
    pub(crate) fn thread([x, y, z]: [u32; 3], block: [u32; 3]) -> usize {
        let [width, height, _] = block.map(|n| n as usize);
        x as usize + width * (y as usize + height * z as usize)
    }
}
