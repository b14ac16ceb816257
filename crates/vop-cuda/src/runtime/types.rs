//! Structures that programs pass, by their layout in driver_types.h.

use std::ffi::c_void;

/// `dim3`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Dim3 {
    pub x: u32,
    pub y: u32,
    pub z: u32,
}

/// `cudaExtent`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Extent {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
}

/// `cudaPos`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Pos {
    pub x: usize,
    pub y: usize,
    pub z: usize,
}

/// `cudaPitchedPtr`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct PitchedPtr {
    pub ptr: *mut c_void,
    pub pitch: usize,
    pub xsize: usize,
    pub ysize: usize,
}

/// `cudaChannelFormatDesc`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names say it")]
pub struct ChannelFormatDesc {
    pub x: i32,
    pub y: i32,
    pub z: i32,
    pub w: i32,
    pub kind: i32,
}

/// `cudaMemLocation`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct MemLocation {
    pub kind: i32,
    pub id: i32,
}

/// `cudaMemcpy3DParms`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Memcpy3DParms {
    pub src_array: *mut c_void,
    pub src_pos: Pos,
    pub src_ptr: PitchedPtr,
    pub dst_array: *mut c_void,
    pub dst_pos: Pos,
    pub dst_ptr: PitchedPtr,
    pub extent: Extent,
    pub kind: i32,
}

/// `cudaMemcpy3DPeerParms`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Memcpy3DPeerParms {
    pub src_array: *mut c_void,
    pub src_pos: Pos,
    pub src_ptr: PitchedPtr,
    pub src_device: i32,
    pub dst_array: *mut c_void,
    pub dst_pos: Pos,
    pub dst_ptr: PitchedPtr,
    pub dst_device: i32,
    pub extent: Extent,
}

/// `CUDA_MEMCPY3D` and `CUDA_MEMCPY3D_PEER` of cuda.h, which differ in what the contexts are: the former has nothing there.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct DriverCopy {
    pub(super) src: DriverOperand,
    pub(super) dst: DriverOperand,
    pub(super) width_in_bytes: usize,
    pub(super) height: usize,
    pub(super) depth: usize,
}

/// One side of a copy.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct DriverOperand {
    pub(super) x_in_bytes: usize,
    pub(super) y: usize,
    pub(super) z: usize,
    pub(super) lod: usize,
    pub(super) memory_type: u32,
    pub(super) host: *mut c_void,
    pub(super) device: u64,
    pub(super) array: *mut c_void,
    pub(super) context: *mut c_void,
    pub(super) pitch: usize,
    pub(super) height: usize,
}

/// `CUmemorytype`.
pub(super) const HOST: u32 = 1;
pub(super) const DEVICE: u32 = 2;
pub(super) const ARRAY: u32 = 3;
pub(super) const UNIFIED: u32 = 4;

/// `CUDA_ARRAY3D_DESCRIPTOR`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DriverArray {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) depth: usize,
    pub(super) format: u32,
    pub(super) channels: u32,
    pub(super) flags: u32,
}

/// `cudaLaunchConfig_t`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct LaunchConfig {
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: usize,
    pub stream: *mut c_void,
    pub attributes: *mut c_void,
    pub count: u32,
}

/// `CUlaunchConfig`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct DriverLaunchConfig {
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
    pub(super) shared: u32,
    pub(super) stream: *mut c_void,
    pub(super) attributes: *mut c_void,
    pub(super) count: u32,
}

/// `cudaKernelNodeParams`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct KernelNodeParams {
    pub func: *mut c_void,
    pub grid: Dim3,
    pub block: Dim3,
    pub shared: u32,
    pub params: *mut *mut c_void,
    pub extra: *mut *mut c_void,
}

/// `CUDA_KERNEL_NODE_PARAMS`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub(super) struct DriverKernelNode {
    pub(super) func: *mut c_void,
    pub(super) grid: Dim3,
    pub(super) block: Dim3,
    pub(super) shared: u32,
    pub(super) params: *mut *mut c_void,
    pub(super) extra: *mut *mut c_void,
    pub(super) kernel: *mut c_void,
    pub(super) context: *mut c_void,
}

/// `cudaMemsetParams`, and `CUDA_MEMSET_NODE_PARAMS`, which is the same.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct MemsetParams {
    pub dst: *mut c_void,
    pub pitch: usize,
    pub value: u32,
    pub element_size: u32,
    pub width: usize,
    pub height: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As C compilers lay them out (driver_types.h and cuda.h of CUDA 12.9 and 13.5).
    #[test]
    fn sizes_are_those_of_the_headers() {
        assert_eq!(size_of::<Memcpy3DParms>(), 160);
        assert_eq!(size_of::<Memcpy3DPeerParms>(), 168);
        assert_eq!(size_of::<DriverCopy>(), 200);
        assert_eq!(size_of::<DriverArray>(), 40);
        assert_eq!(size_of::<LaunchConfig>(), 56);
        assert_eq!(size_of::<DriverLaunchConfig>(), 56);
        assert_eq!(size_of::<KernelNodeParams>(), 56);
        assert_eq!(size_of::<DriverKernelNode>(), 72);
        assert_eq!(size_of::<MemsetParams>(), 40);
        assert_eq!(size_of::<MemLocation>(), 8);
    }
}
