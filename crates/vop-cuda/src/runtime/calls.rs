//! Functions of the driver, as the runtime calls them: those that the driver does not support yet have their parameters here.

#![allow(missing_docs, reason = "cuda.h has them")]

use std::ffi::c_void;

pub(super) use crate::driver::*;
use crate::driver::unsupported;

macro_rules! unsupported {
    ($(fn $name:ident($($ty:ty),*);)*) => {
        $(pub(super) unsafe fn $name($(_: $ty),*) -> i32 { unsupported::$name() })*
    };
}

unsupported! {
    fn cuArray3DCreate_v2(*mut *mut c_void, *const c_void);
    fn cuArray3DGetDescriptor_v2(*mut c_void, *mut c_void);
    fn cuArrayDestroy(*mut c_void);
    fn cuArrayGetMemoryRequirements(*mut c_void, *mut c_void, i32);
    fn cuArrayGetPlane(*mut *mut c_void, *mut c_void, u32);
    fn cuDeviceGetGraphMemAttribute(i32, u32, *mut c_void);
    fn cuDeviceSetGraphMemAttribute(i32, u32, *mut c_void);
    fn cuGraphKernelNodeGetAttribute(*mut c_void, u32, *mut c_void);
    fn cuGraphKernelNodeSetAttribute(*mut c_void, u32, *const c_void);
    fn cuGraphMemAllocNodeGetParams(*mut c_void, *mut c_void);
    fn cuMemRangeGetAttribute(*mut c_void, usize, u32, u64, usize);
    fn cuMemRangeGetAttributes(*mut *mut c_void, *mut usize, *mut c_void, usize, u64, usize);
    fn cuMipmappedArrayCreate(*mut *mut c_void, *const c_void, u32);
    fn cuMipmappedArrayDestroy(*mut c_void);
    fn cuMipmappedArrayGetLevel(*mut *mut c_void, *mut c_void, u32);
    fn cuOccupancyMaxActiveClusters(*mut i32, *mut c_void, *const c_void);
    fn cuOccupancyMaxPotentialClusterSize(*mut i32, *mut c_void, *const c_void);
    fn cuStreamGetAttribute(*mut c_void, u32, *mut c_void);
    fn cuStreamSetAttribute(*mut c_void, u32, *const c_void);
    fn cuSurfObjectCreate(*mut u64, *const c_void);
    fn cuSurfObjectDestroy(u64);
    fn cuSurfObjectGetResourceDesc(*mut c_void, u64);
    fn cuTexObjectCreate(*mut u64, *const c_void, *const c_void, *const c_void);
    fn cuTexObjectDestroy(u64);
    fn cuTexObjectGetResourceDesc(*mut c_void, u64);
    fn cuTexObjectGetResourceViewDesc(*mut c_void, u64);
    fn cuTexObjectGetTextureDesc(*mut c_void, u64);
}
