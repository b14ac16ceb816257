//! One form applied to many inputs, at the speed of the processor's vector registers.
//!
//! A [`Plan`] decides once what a form comes to: constants, and a kernel that computes with them on 4, 8 or 16 words at a
//! time. There is a kernel an operation and kind of last stage; selectors, masks, types, saturation and the
//! [`Semantics`](crate::Semantics) are constants, so every form runs at this speed, and none is evaluated one input at a time.
//!
//! ```
//! use vop::bulk::Plan;
//! let plan = Plan::new("vadd4.s32.s32.s32.sat d, a, b, c".parse().unwrap(), vop::Semantics::Isa);
//! let a = [0x7f01_80ff; 100];
//! let mut d = [0; 100];
//! plan.run((&a).into(), 0x0101_ff01.into(), 0.into(), &mut d);
//! assert_eq!(d, [0x7f02_8000; 100]);
//! ```

#[cfg(target_arch = "x86_64")]
mod avx;
mod choose;
mod constants;
mod kernels;
mod level;
#[cfg(all(target_arch = "aarch64", target_feature = "neon", target_endian = "little"))]
mod neon;
mod plan;
#[cfg(target_arch = "x86_64")]
mod sse2;
mod strided;
mod vector;

pub use level::Level;
pub use plan::{Plan, Source};
pub use strided::Strided;

/// The words that kernels are given at a time.
const CHUNK: usize = 32;
