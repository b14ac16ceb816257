//! Devices, their properties, limits and peers.

use std::ffi::{c_char, c_void};

use super::context;
use super::types::{ChannelFormatDesc, Dim3};
use super::{driver, put, runtime};
use crate::status::{Answer, Status};

/// The version that both interfaces tell: CUDA 13.5, so that programs of all toolkits of 13 start.
const VERSION: i32 = 13050;

runtime! {
    /// How many devices there are.
    fn cudaGetDeviceCount(count: *mut i32) {
        unsafe { put(count, context::count().inspect_err(|_| _ = put(count, 0))?) }
    }

    /// The device of this thread.
    fn cudaGetDevice(device: *mut i32) {
        unsafe { put(device, context::device()?) }
    }

    /// Chooses the device of this thread.
    fn cudaSetDevice(device: i32) {
        context::choose(device)
    }

    /// Initialises a device.
    fn cudaInitDevice(device: i32, _device_flags: u32, _flags: u32) {
        context::primary(device).map(|_| ())
    }

    /// The devices that may be used, in order.
    fn cudaSetValidDevices(devices: *mut i32, count: i32) {
        if count < 0 || devices.is_null() && count > 0 {
            return Err(Status::INVALID_VALUE);
        }
        let devices = (0..count as usize).map(|index| unsafe { devices.add(index).read() });
        let devices: Vec<i32> = devices.map(context::checked).collect::<Answer<_>>()?;
        // The first one is used.
        devices.first().map_or(Ok(()), |first| context::choose(*first))
    }

    /// Flags of the devices: how a thread waits, which makes no difference here.
    fn cudaSetDeviceFlags(flags: u32) {
        // The three ways to wait exclude each other.
        let wait = flags & 7;
        if flags & !0x1ff != 0 || wait & (wait.wrapping_sub(1)) != 0 {
            return Err(Status::INVALID_VALUE);
        }
        driver!(cuDevicePrimaryCtxSetFlags_v2(context::device()?, flags))
    }

    /// The flags.
    fn cudaGetDeviceFlags(flags: *mut u32) {
        let (mut found, mut active) = (0u32, 0);
        driver!(cuDevicePrimaryCtxGetState(context::device()?, &raw mut found, &raw mut active))?;
        unsafe { put(flags, found) }
    }

    /// Waits for everything.
    fn cudaDeviceSynchronize() {
        context::ensure()?;
        driver!(cuCtxSynchronize())
    }

    /// Frees everything that the device holds.
    fn cudaDeviceReset() {
        let device = context::device()?;
        _ = driver!(cuCtxSynchronize());
        context::leave();
        context::reset(device)
    }

    /// The old name of [`cudaDeviceReset`].
    fn cudaThreadExit() {
        super::answer(unsafe { cudaDeviceReset() })
    }

    /// The old name of [`cudaDeviceSynchronize`].
    fn cudaThreadSynchronize() {
        super::answer(unsafe { cudaDeviceSynchronize() })
    }

    /// An attribute of a device.
    fn cudaDeviceGetAttribute(value: *mut i32, attribute: i32, device: i32) {
        context::checked(device)?;
        driver!(cuDeviceGetAttribute(value, attribute as _, device))
    }

    /// The properties of a device.
    fn cudaGetDeviceProperties(properties: *mut c_void, device: i32) {
        unsafe { put_bytes(properties, &Properties::of(device)?.bytes(Release::Cuda13)) }
    }

    /// The properties of a device, as CUDA 12 has them.
    fn cudaGetDeviceProperties_v2(properties: *mut c_void, device: i32) {
        unsafe { put_bytes(properties, &Properties::of(device)?.bytes(Release::Cuda12)) }
    }

    /// The properties of a device, as CUDA 11 has them: the first fields.
    fn cudaGetDeviceProperties_v1(properties: *mut c_void, device: i32) {
        let bytes = Properties::of(device)?.bytes(Release::Cuda12);
        // It lacks uuid, luid and luidDeviceNodeMask no more, and ends here.
        unsafe { put_bytes(properties, &bytes[..RESERVED_SHARED_12 + 8]) }
    }

    /// The device that has most of some properties.
    fn cudaChooseDevice(device: *mut i32, properties: *const c_void) {
        if properties.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        context::count()?;
        // All devices are alike.
        unsafe { put(device, 0) }
    }

    /// The address of a device on the bus.
    fn cudaDeviceGetPCIBusId(id: *mut c_char, length: i32, device: i32) {
        context::checked(device)?;
        driver!(cuDeviceGetPCIBusId(id, length, device))
    }

    /// The device at an address.
    fn cudaDeviceGetByPCIBusId(device: *mut i32, id: *const c_char) {
        context::initialize()?;
        driver!(cuDeviceGetByPCIBusId(device, id))
    }

    /// How memory and L1 cache are divided, which makes no difference here.
    fn cudaDeviceGetCacheConfig(config: *mut i32) {
        context::ensure()?;
        driver!(cuCtxGetCacheConfig(config.cast()))
    }

    /// Divides memory and L1 cache, which makes no difference here.
    fn cudaDeviceSetCacheConfig(config: i32) {
        context::ensure()?;
        driver!(cuCtxSetCacheConfig(config as _))
    }

    /// The width of banks of shared memory.
    fn cudaDeviceGetSharedMemConfig(config: *mut i32) {
        context::ensure()?;
        driver!(cuCtxGetSharedMemConfig(config.cast()))
    }

    /// Sets the width of banks of shared memory, which makes no difference here.
    fn cudaDeviceSetSharedMemConfig(config: i32) {
        context::ensure()?;
        driver!(cuCtxSetSharedMemConfig(config as _))
    }

    /// A limit: the stack of a thread, the heap, the buffer of `printf`.
    fn cudaDeviceGetLimit(value: *mut usize, limit: i32) {
        context::ensure()?;
        driver!(cuCtxGetLimit(value, limit as _))
    }

    /// Sets a limit.
    fn cudaDeviceSetLimit(limit: i32, value: usize) {
        context::ensure()?;
        driver!(cuCtxSetLimit(limit as _, value))
    }

    /// The range of priorities of streams.
    fn cudaDeviceGetStreamPriorityRange(least: *mut i32, greatest: *mut i32) {
        context::ensure()?;
        driver!(cuCtxGetStreamPriorityRange(least, greatest))
    }

    /// Forgets what is kept in the L2 cache.
    fn cudaCtxResetPersistingL2Cache() {
        context::ensure()?;
        driver!(cuCtxResetPersistingL2Cache())
    }

    /// Whether a device can read another one's memory.
    fn cudaDeviceCanAccessPeer(can: *mut i32, device: i32, peer: i32) {
        context::checked(device)?;
        context::checked(peer)?;
        driver!(cuDeviceCanAccessPeer(can, device, peer))
    }

    /// Lets this device read another one's memory.
    fn cudaDeviceEnablePeerAccess(peer: i32, flags: u32) {
        context::ensure()?;
        if context::checked(peer)? == context::device()? {
            return Err(Status::INVALID_DEVICE);
        }
        driver!(cuCtxEnablePeerAccess(context::primary(peer)?.cast(), flags))
    }

    /// Ends that.
    fn cudaDeviceDisablePeerAccess(peer: i32) {
        context::ensure()?;
        driver!(cuCtxDisablePeerAccess(context::primary(peer)?.cast()))
    }

    /// What one device can do with another.
    fn cudaDeviceGetP2PAttribute(value: *mut i32, attribute: i32, source: i32, destination: i32) {
        context::checked(source)?;
        context::checked(destination)?;
        driver!(cuDeviceGetP2PAttribute(value, attribute as _, source, destination))
    }

    /// The longest one-dimensional texture of a format in linear memory.
    fn cudaDeviceGetTexture1DLinearMaxWidth(width: *mut usize, format: *const ChannelFormatDesc, device: i32) {
        context::checked(device)?;
        if format.is_null() {
            return Err(Status::INVALID_VALUE);
        }
        let mut elements = 0;
        driver!(cuDeviceGetAttribute(&raw mut elements, MAX_TEXTURE_1D_LINEAR as _, device))?;
        unsafe { put(width, elements.max(0) as usize) }
    }

    /// The version of the driver.
    fn cudaDriverGetVersion(version: *mut i32) {
        unsafe { put(version, VERSION) }
    }

    /// The version of the runtime.
    fn cudaRuntimeGetVersion(version: *mut i32) {
        unsafe { put(version, VERSION) }
    }

    /// The version of the runtime, for programs of CUDA 12.
    fn cudaRuntimeGetVersion_12(version: *mut i32) {
        unsafe { put(version, 12090) }
    }

    /// Begins what a profiler shows: nothing.
    fn cudaProfilerStart() {
        Ok(())
    }

    /// Ends what a profiler shows.
    fn cudaProfilerStop() {
        Ok(())
    }
}

const MAX_TEXTURE_1D_LINEAR: i32 = 69;

/// # Safety
/// The bytes can be written there.
unsafe fn put_bytes(to: *mut c_void, bytes: &[u8]) -> Answer {
    if to.is_null() {
        return Err(Status::INVALID_VALUE);
    }
    // SAFETY: as the caller says.
    unsafe { to.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    Ok(())
}

/// Whose `cudaDeviceProp` it is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Release {
    Cuda12,
    Cuda13,
}

/// What the driver tells of a device.
struct Properties {
    name: [u8; 256],
    uuid: [u8; 16],
    memory: usize,
    /// By number.
    attributes: Vec<i32>,
}

/// Where `reservedSharedMemPerBlock` is in CUDA 12.
const RESERVED_SHARED_12: usize = 720;

impl Properties {
    fn of(device: i32) -> Answer<Properties> {
        context::checked(device)?;
        let mut properties = Properties { name: [0; 256], uuid: [0; 16], memory: 0, attributes: Vec::new() };
        driver!(cuDeviceGetName(properties.name.as_mut_ptr().cast(), 256, device))?;
        driver!(cuDeviceGetUuid_v2(properties.uuid.as_mut_ptr().cast(), device))?;
        driver!(cuDeviceTotalMem_v2(&raw mut properties.memory, device))?;
        properties.attributes = (0..=MAX_ATTRIBUTE)
            .map(|attribute| {
                let mut value = 0;
                // A feature that the device does not know is one that it does not have.
                match driver!(cuDeviceGetAttribute(&raw mut value, attribute as _, device)) {
                    Ok(()) => value,
                    Err(_) => 0,
                }
            })
            .collect();
        Ok(properties)
    }

    /// The structure, in the order of the header.
    fn bytes(&self, release: Release) -> Vec<u8> {
        let old = release == Release::Cuda12;
        let mut to = Layout::default();
        let i = |to: &mut Layout, numbers: &[usize]| {
            for number in numbers {
                to.int(self.attributes.get(*number).copied().unwrap_or(0));
            }
        };
        let s =
            |to: &mut Layout, number: usize| to.size(self.attributes.get(number).copied().unwrap_or(0).max(0) as usize);
        to.bytes.extend(self.name);
        to.bytes.extend(self.uuid);
        // luid and luidDeviceNodeMask are Windows'.
        to.bytes.extend([0; 12]);
        to.size(self.memory);
        s(&mut to, 8); // sharedMemPerBlock
        i(&mut to, &[12, 10]); // regsPerBlock, warpSize
        s(&mut to, 11); // memPitch
        i(&mut to, &[1, 2, 3, 4, 5, 6, 7]); // maxThreadsPerBlock, maxThreadsDim, maxGridSize
        if old {
            i(&mut to, &[13]); // clockRate
        }
        s(&mut to, 9); // totalConstMem
        i(&mut to, &[75, 76]); // major, minor
        s(&mut to, 14); // textureAlignment
        s(&mut to, 51); // texturePitchAlignment
        if old {
            i(&mut to, &[15]); // deviceOverlap
        }
        i(&mut to, &[16]); // multiProcessorCount
        if old {
            i(&mut to, &[17]); // kernelExecTimeoutEnabled
        }
        i(&mut to, &[18, 19]); // integrated, canMapHostMemory
        if old {
            i(&mut to, &[20]); // computeMode
        }
        i(&mut to, &[21, 77]); // maxTexture1D, maxTexture1DMipmap
        if old {
            i(&mut to, &[69]); // maxTexture1DLinear
        }
        // maxTexture2D, its mipmap, linear and gather; 3D and its alternate; cubemap; layered ones
        i(&mut to, &[22, 23, 73, 74, 70, 71, 72, 45, 46, 24, 25, 26, 47, 48, 49, 52, 42, 43, 27, 28, 29, 53, 54]);
        i(&mut to, &[55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68]); // maxSurface…
        s(&mut to, 30); // surfaceAlignment
        i(&mut to, &[31, 32, 33, 34, 50, 35, 40, 41]); // concurrentKernels … unifiedAddressing
        if old {
            i(&mut to, &[36]); // memoryClockRate
        }
        i(&mut to, &[37, 38, 108, 39, 78, 79, 80]); // memoryBusWidth … localL1CacheSupported
        s(&mut to, 81); // sharedMemPerMultiprocessor
        i(&mut to, &[82, 83, 84, 85, 86]); // regsPerMultiprocessor … hostNativeAtomicSupported
        if old {
            i(&mut to, &[87]); // singleToDoublePrecisionPerfRatio
        }
        i(&mut to, &[88, 89, 90, 91, 95]); // pageableMemoryAccess … cooperativeLaunch
        if old {
            i(&mut to, &[96]); // cooperativeMultiDeviceLaunch
        }
        s(&mut to, 97); // sharedMemPerBlockOptin
        i(&mut to, &[100, 101, 106, 109]); // pageableMemoryAccessUsesHostPageTables … accessPolicyMaxWindowSize
        s(&mut to, 111); // reservedSharedMemPerBlock
        // hostRegisterSupported … unifiedFunctionPointers
        i(&mut to, &[99, 112, 113, 114, 115, 116, 117, 118, 119, 121, 125, 120, 129]);
        if !old {
            i(&mut to, &[130, 131, 133, 134, 139, 140, 143]); // deviceNumaConfig … hostNumaMultinodeIpcSupported
        }
        let reserved = if old { 63 } else { 56 };
        to.bytes.extend(std::iter::repeat_n(0, 4 * reserved));
        to.align(8);
        to.bytes
    }
}

/// The highest attribute that a structure has.
const MAX_ATTRIBUTE: i32 = 143;

/// Fields of a structure, one after the other, as C lays them out.
#[derive(Default)]
struct Layout {
    bytes: Vec<u8>,
}

impl Layout {
    fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }

    fn int(&mut self, value: i32) {
        self.align(4);
        self.bytes.extend(value.to_ne_bytes());
    }

    fn size(&mut self, value: usize) {
        self.align(8);
        self.bytes.extend(value.to_ne_bytes());
    }
}

/// Checks what a launch asks for: all of it is positive.
pub(super) fn has_threads(grid: Dim3, block: Dim3) -> bool {
    [grid.x, grid.y, grid.z, block.x, block.y, block.z].iter().all(|n| *n > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offsets that C compilers give (driver_types.h of CUDA 12.9 and 13.5).
    #[test]
    fn properties_are_where_the_headers_have_them() {
        let attributes = (0..=MAX_ATTRIBUTE).map(|number| 1000 + number).collect();
        let properties = Properties { name: [b'n'; 256], uuid: [b'u'; 16], memory: 77, attributes };
        let check = |release, size, offsets: &[(usize, i32)]| {
            let bytes = properties.bytes(release);
            assert_eq!(bytes.len(), size);
            assert_eq!(bytes[255..273], [&b"n"[..], &[b'u'; 16], &[0]].concat());
            assert_eq!(bytes[288..296], 77usize.to_ne_bytes());
            for (offset, attribute) in offsets {
                assert_eq!(bytes[*offset..offset + 4], (1000 + attribute).to_ne_bytes(), "{attribute}");
            }
        };
        let both = [(336, 5), (352, 9), (360, 75), (368, 14)];
        check(Release::Cuda13, 1008, &both);
        check(Release::Cuda12, 1032, &both);
        let new = [(384, 16), (388, 18), (396, 21), (404, 22), (552, 30), (560, 31), (588, 41), (592, 37), (624, 81)];
        check(Release::Cuda13, 1008, &new);
        check(Release::Cuda13, 1008, &[(636, 83), (652, 88), (668, 95), (672, 97), (688, 106), (696, 111), (704, 99)]);
        check(Release::Cuda13, 1008, &[(748, 120), (752, 129), (756, 130)]);
        let old = [(388, 16), (396, 18), (408, 21), (420, 22), (568, 30), (576, 31), (604, 41), (612, 37), (640, 81)];
        check(Release::Cuda12, 1032, &old);
        check(Release::Cuda12, 1032, &[(652, 83), (672, 88), (688, 95), (696, 97), (712, 106), (720, 111), (728, 99)]);
        check(Release::Cuda12, 1032, &[(772, 120), (776, 129)]);
    }
}
