//! What devices say of themselves: the values of a plausible card of the architecture.
//!
//! Where a value says what can be done, it is what can be done here. Sizes of memory are those of this machine.

use super::{Device, Machine};
use crate::status::{Answer, Status};

/// What differs from architecture to architecture: its number, and the bytes of shared memory, threads and blocks of a multiprocessor.
/// These are in the tables of the CUDA programming guide.
struct Architecture {
    number: u32,
    shared: i32,
    threads: i32,
    blocks: i32,
}

const ARCHITECTURES: [Architecture; 13] = [
    Architecture { number: 75, shared: 64 << 10, threads: 1024, blocks: 16 },
    Architecture { number: 80, shared: 164 << 10, threads: 2048, blocks: 32 },
    Architecture { number: 86, shared: 100 << 10, threads: 1536, blocks: 16 },
    Architecture { number: 87, shared: 164 << 10, threads: 1536, blocks: 16 },
    Architecture { number: 88, shared: 164 << 10, threads: 1536, blocks: 16 },
    Architecture { number: 89, shared: 100 << 10, threads: 1536, blocks: 24 },
    Architecture { number: 90, shared: 228 << 10, threads: 2048, blocks: 32 },
    Architecture { number: 100, shared: 228 << 10, threads: 2048, blocks: 32 },
    Architecture { number: 103, shared: 228 << 10, threads: 2048, blocks: 32 },
    Architecture { number: 107, shared: 228 << 10, threads: 2048, blocks: 32 },
    Architecture { number: 110, shared: 228 << 10, threads: 2048, blocks: 32 },
    Architecture { number: 120, shared: 100 << 10, threads: 1536, blocks: 24 },
    Architecture { number: 121, shared: 100 << 10, threads: 1536, blocks: 24 },
];

/// The architecture of this number, or the last one before it.
fn architecture(number: u32) -> &'static Architecture {
    let at = ARCHITECTURES.partition_point(|known| known.number <= number);
    &ARCHITECTURES[at.saturating_sub(1)]
}

/// The number of multiprocessors: as few as kernels that fill a device need be large, and a few more than a small machine has cores.
const MULTIPROCESSORS: i32 = 16;

/// Bytes of shared memory of a block that the system keeps.
const RESERVED: i32 = 1024;

/// The name of a device.
pub fn name(machine: &Machine) -> String {
    format!("vop sm_{} (CPU)", machine.settings.architecture)
}

/// A number that no other device has, and that is the same in each run.
pub fn uuid(device: &Device) -> [u8; 16] {
    let mut bytes = *b"vop-cuda-device\0";
    bytes[15] = device.ordinal as u8;
    bytes
}

/// `domain:bus:device.0`.
pub fn pci_bus(device: &Device) -> String {
    format!("0000:{:02X}:00.0", device.ordinal + 1)
}

/// Bytes of shared memory that a block may have if it asks for more than 48 KiB.
pub fn shared_by_request(machine: &Machine) -> i32 {
    architecture(machine.settings.architecture).shared - RESERVED
}

/// Bytes of shared memory of a multiprocessor.
pub fn shared_of_multiprocessor(machine: &Machine) -> i32 {
    architecture(machine.settings.architecture).shared
}

/// Threads and blocks of a multiprocessor.
pub fn residents(machine: &Machine) -> (i32, i32) {
    let found = architecture(machine.settings.architecture);
    (found.threads, found.blocks)
}

/// The number of multiprocessors.
pub fn multiprocessors() -> i32 {
    MULTIPROCESSORS
}

/// A `CUdevice_attribute`.
///
/// # Errors
/// There is none of this number.
pub fn attribute(machine: &Machine, device: &Device, number: i32) -> Answer<i32> {
    let found = architecture(machine.settings.architecture);
    let (major, minor) = (machine.settings.architecture / 10, machine.settings.architecture % 10);
    Ok(match number {
        // Threads of a block; its axes; those of a grid.
        1..=3 => 1024,
        4 => 64,
        5 => 0x7fff_ffff,
        6 | 7 => 65535,
        // Shared memory of a block, constant memory, threads of a warp, the greatest pitch, registers of a block.
        8 => 48 << 10,
        9 => 64 << 10,
        10 => 32,
        11 => 0x7fff_ffff,
        12 => 65536,
        // Kilohertz of the clock, of that of memory, and bits of its bus.
        13 => 1_000_000,
        36 => 1_000_000,
        37 => 256,
        // Alignment of textures, of their pitch, of surfaces.
        14 => 512,
        51 => 32,
        30 => 512,
        // Copies beside kernels; engines for them.
        15 => 1,
        40 => 2,
        16 => MULTIPROCESSORS,
        // A limit of time; a device that shares the host's memory; memory of the host that can be mapped; the mode of computing.
        17 => i32::from(machine.settings.launch.timeout.is_some()),
        18 => 0,
        19 => 1,
        20 => 0,
        // Textures.
        21 => 131_072,
        22 => 131_072,
        23 => 65536,
        24..=26 => 16384,
        27 | 28 => 32768,
        29 => 2048,
        42 => 32768,
        43 => 2048,
        44 => 1,
        45 | 46 => 32768,
        47 | 48 => 8192,
        49 => 32768,
        52 => 32768,
        53 => 32768,
        54 => 2046,
        69 => 1 << 28,
        70 => 131_072,
        71 => 65000,
        72 => 2_097_120,
        73 | 74 => 32768,
        77 => 32768,
        // Surfaces.
        55 => 32768,
        56 => 131_072,
        57 => 65536,
        58..=60 => 16384,
        61 => 32768,
        62 => 2048,
        63 | 64 => 32768,
        65 => 2048,
        66 => 32768,
        67 => 32768,
        68 => 2046,
        // Several kernels at once; memory that corrects errors; where the device is plugged in; the kind of its driver.
        31 => 1,
        32 => 1,
        33 => device.ordinal as i32 + 1,
        34 | 50 => 0,
        35 => 0,
        // The cache; threads of a multiprocessor; one address space.
        38 => 50 << 20,
        39 => found.threads,
        41 => 1,
        75 => major as i32,
        76 => minor as i32,
        // Priorities, caches, shared memory and registers of a multiprocessor.
        78..=80 => 1,
        81 => found.shared,
        82 => 65536,
        // Managed memory; boards; atomics of the host; the rate of single to double precision.
        83 => 1,
        84 => 0,
        85 => device.ordinal as i32,
        86 => 1,
        87 => 2,
        // Memory of the host that was not registered is out of reach, so that a wrong pointer is found.
        88 => 0,
        89 => 1,
        90 | 91 => 1,
        // Words that streams write and wait for.
        92..=94 | 122 | 123 => 1,
        // Cooperative launches, on one device.
        95 => 1,
        96 => 0,
        97 => found.shared - RESERVED,
        98 => 0,
        99 => 1,
        100 => 0,
        101 => 1,
        // Virtual memory management, and handles that other processes can take.
        102 => 1,
        103..=105 => 0,
        106 => found.blocks,
        // Memory that is compressed, which is a wish.
        107 => {
            if found.number >= 80 {
                1
            } else {
                0
            }
        }
        // Cache that a program can keep, and the part of memory that it keeps: they have no effect.
        108 => {
            if found.number >= 80 {
                32 << 20
            } else {
                0
            }
        }
        109 => {
            if found.number >= 80 {
                128 << 20
            } else {
                0
            }
        }
        110 => 0,
        111 => RESERVED,
        112 => 0,
        113 => 1,
        114 => 0,
        115 => 1,
        116..=119 => 0,
        // Clusters.
        120 | 121 => 0,
        124 | 125 => 0,
        126 => 1,
        127..=130 => 0,
        131 => -1,
        132 | 133 => 0,
        134 => -1,
        135..=161 => 0,
        _ => return Err(Status::INVALID_VALUE),
    })
}
