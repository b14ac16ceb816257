//! What a function of CUDA answers.

use std::ffi::CStr;
use std::fmt;

use vop_run::{RunError, RunErrorKind};

/// An answer: CUDA's number. `CUresult` and `cudaError_t` have the same numbers where they mean the same, so there is one type for both.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Status(pub i32);

/// What a function of the core returns: the error is what the program gets.
pub type Answer<T = ()> = Result<T, Status>;

/// A row of the table.
struct Row {
    status: Status,
    /// Empty where the interface does not have it.
    driver: &'static CStr,
    runtime: &'static CStr,
    text: &'static CStr,
}

/// A text with a zero behind it.
const fn with_zero(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a text of the table has a zero within"),
    }
}

macro_rules! statuses {
    // The driver's name, if it has one.
    (plain $name:ident) => { concat!("CUDA_", stringify!($name), "\0") };
    (error $name:ident) => { concat!("CUDA_ERROR_", stringify!($name), "\0") };
    (none $name:ident) => { "\0" };
    ($($name:ident $number:literal $driver:ident $runtime:literal $text:literal;)*) => {
        impl Status {
            $(#[doc = concat!("\"", $text, "\"")] pub const $name: Status = Status($number);)*

            const ALL: &'static [Row] = &[$(Row {
                status: Status::$name,
                driver: with_zero(statuses!($driver $name)),
                runtime: with_zero(concat!($runtime, "\0")),
                text: with_zero(concat!($text, "\0")),
            }),*];
        }
    };
}

statuses! {
    SUCCESS 0 plain "cudaSuccess" "no error";
    INVALID_VALUE 1 error "cudaErrorInvalidValue" "invalid argument";
    OUT_OF_MEMORY 2 error "cudaErrorMemoryAllocation" "out of memory";
    NOT_INITIALIZED 3 error "cudaErrorInitializationError" "initialization error";
    DEINITIALIZED 4 error "cudaErrorCudartUnloading" "driver shutting down";
    PROFILER_DISABLED 5 error "cudaErrorProfilerDisabled" "profiler is disabled";
    PROFILER_NOT_INITIALIZED 6 error "cudaErrorProfilerNotInitialized" "profiler is not initialized";
    PROFILER_ALREADY_STARTED 7 error "cudaErrorProfilerAlreadyStarted" "profiler was already started";
    PROFILER_ALREADY_STOPPED 8 error "cudaErrorProfilerAlreadyStopped" "profiler was already stopped";
    INVALID_CONFIGURATION 9 none "cudaErrorInvalidConfiguration" "invalid configuration argument";
    VERSION_TRANSLATION 10 none "cudaErrorVersionTranslation" "API of a version that the runtime does not translate";
    INVALID_PITCH_VALUE 12 none "cudaErrorInvalidPitchValue" "invalid pitch argument";
    INVALID_SYMBOL 13 none "cudaErrorInvalidSymbol" "invalid device symbol";
    INVALID_HOST_POINTER 16 none "cudaErrorInvalidHostPointer" "invalid host pointer";
    INVALID_DEVICE_POINTER 17 none "cudaErrorInvalidDevicePointer" "invalid device pointer";
    INVALID_TEXTURE 18 none "cudaErrorInvalidTexture" "invalid texture reference";
    INVALID_TEXTURE_BINDING 19 none "cudaErrorInvalidTextureBinding" "texture is not bound to a pointer";
    INVALID_CHANNEL_DESCRIPTOR 20 none "cudaErrorInvalidChannelDescriptor" "invalid channel descriptor";
    INVALID_MEMCPY_DIRECTION 21 none "cudaErrorInvalidMemcpyDirection" "invalid copy direction for memcpy";
    ADDRESS_OF_CONSTANT 22 none "cudaErrorAddressOfConstant" "address of a constant";
    TEXTURE_FETCH_FAILED 23 none "cudaErrorTextureFetchFailed" "fetch from texture failed";
    TEXTURE_NOT_BOUND 24 none "cudaErrorTextureNotBound" "cannot fetch from a texture that is not bound";
    SYNCHRONIZATION_ERROR 25 none "cudaErrorSynchronizationError" "incorrect use of synchronization";
    INVALID_FILTER_SETTING 26 none "cudaErrorInvalidFilterSetting"
        "linear filtering not supported for non-float type";
    INVALID_NORM_SETTING 27 none "cudaErrorInvalidNormSetting"
        "read as normalized float not supported for 32-bit non float type";
    MIXED_DEVICE_EXECUTION 28 none "cudaErrorMixedDeviceExecution" "device kernel image is not built for emulation";
    NOT_YET_IMPLEMENTED 31 none "cudaErrorNotYetImplemented" "feature not yet implemented";
    MEMORY_VALUE_TOO_LARGE 32 none "cudaErrorMemoryValueTooLarge"
        "memory size or pointer value too large to fit in 32 bit";
    STUB_LIBRARY 34 error "cudaErrorStubLibrary" "CUDA driver is a stub library";
    INSUFFICIENT_DRIVER 35 none "cudaErrorInsufficientDriver"
        "CUDA driver version is insufficient for CUDA runtime version";
    CALL_REQUIRES_NEWER_DRIVER 36 error "cudaErrorCallRequiresNewerDriver"
        "API call is not supported in the installed CUDA driver";
    INVALID_SURFACE 37 none "cudaErrorInvalidSurface" "invalid surface reference";
    DUPLICATE_VARIABLE_NAME 43 none "cudaErrorDuplicateVariableName"
        "duplicate global variable looked up by string name";
    DUPLICATE_TEXTURE_NAME 44 none "cudaErrorDuplicateTextureName" "duplicate texture looked up by string name";
    DUPLICATE_SURFACE_NAME 45 none "cudaErrorDuplicateSurfaceName" "duplicate surface looked up by string name";
    DEVICE_UNAVAILABLE 46 error "cudaErrorDevicesUnavailable" "CUDA-capable device(s) is/are busy or unavailable";
    MULTICAST_RESOURCE_FULL 47 error "" "no resources for multicast are left";
    INCOMPATIBLE_DRIVER_CONTEXT 49 none "cudaErrorIncompatibleDriverContext" "incompatible driver context";
    MISSING_CONFIGURATION 52 none "cudaErrorMissingConfiguration" "__global__ function call is not configured";
    PRIOR_LAUNCH_FAILURE 53 none "cudaErrorPriorLaunchFailure" "unspecified launch failure in prior launch";
    LAUNCH_MAX_DEPTH_EXCEEDED 65 none "cudaErrorLaunchMaxDepthExceeded"
        "launch would exceed maximum depth of nested launches";
    LAUNCH_FILE_SCOPED_TEX 66 none "cudaErrorLaunchFileScopedTex"
        "launch failed because kernel uses textures of file scope";
    LAUNCH_FILE_SCOPED_SURF 67 none "cudaErrorLaunchFileScopedSurf"
        "launch failed because kernel uses surfaces of file scope";
    SYNC_DEPTH_EXCEEDED 68 none "cudaErrorSyncDepthExceeded"
        "cudaDeviceSynchronize would exceed the depth of nested launches";
    LAUNCH_PENDING_COUNT_EXCEEDED 69 none "cudaErrorLaunchPendingCountExceeded"
        "launch failed because too many launches are pending";
    INVALID_DEVICE_FUNCTION 98 none "cudaErrorInvalidDeviceFunction" "invalid device function";
    NO_DEVICE 100 error "cudaErrorNoDevice" "no CUDA-capable device is detected";
    INVALID_DEVICE 101 error "cudaErrorInvalidDevice" "invalid device ordinal";
    DEVICE_NOT_LICENSED 102 error "cudaErrorDeviceNotLicensed" "device does not have a valid grid license";
    SOFTWARE_VALIDITY_NOT_ESTABLISHED 103 none "cudaErrorSoftwareValidityNotEstablished"
        "integrity checks of the software have not been done";
    STARTUP_FAILURE 127 none "cudaErrorStartupFailure" "startup failure in cuda runtime";
    INVALID_IMAGE 200 error "cudaErrorInvalidKernelImage" "device kernel image is invalid";
    INVALID_CONTEXT 201 error "cudaErrorDeviceUninitialized" "invalid device context";
    CONTEXT_ALREADY_CURRENT 202 error "" "context is already current";
    MAP_FAILED 205 error "cudaErrorMapBufferObjectFailed" "mapping of buffer object failed";
    UNMAP_FAILED 206 error "cudaErrorUnmapBufferObjectFailed" "unmapping of buffer object failed";
    ARRAY_IS_MAPPED 207 error "cudaErrorArrayIsMapped" "array is mapped";
    ALREADY_MAPPED 208 error "cudaErrorAlreadyMapped" "resource already mapped";
    NO_BINARY_FOR_GPU 209 error "cudaErrorNoKernelImageForDevice"
        "no kernel image is available for execution on the device";
    ALREADY_ACQUIRED 210 error "cudaErrorAlreadyAcquired" "resource already acquired";
    NOT_MAPPED 211 error "cudaErrorNotMapped" "resource not mapped";
    NOT_MAPPED_AS_ARRAY 212 error "cudaErrorNotMappedAsArray" "resource not mapped as array";
    NOT_MAPPED_AS_POINTER 213 error "cudaErrorNotMappedAsPointer" "resource not mapped as pointer";
    ECC_UNCORRECTABLE 214 error "cudaErrorECCUncorrectable" "uncorrectable ECC error encountered";
    UNSUPPORTED_LIMIT 215 error "cudaErrorUnsupportedLimit" "limit is not supported on this architecture";
    CONTEXT_ALREADY_IN_USE 216 error "cudaErrorDeviceAlreadyInUse"
        "exclusive-thread device already in use by a different thread";
    PEER_ACCESS_UNSUPPORTED 217 error "cudaErrorPeerAccessUnsupported"
        "peer access is not supported between these two devices";
    INVALID_PTX 218 error "cudaErrorInvalidPtx" "a PTX JIT compilation failed";
    INVALID_GRAPHICS_CONTEXT 219 error "cudaErrorInvalidGraphicsContext" "invalid OpenGL or DirectX context";
    NVLINK_UNCORRECTABLE 220 error "cudaErrorNvlinkUncorrectable"
        "uncorrectable NVLink error detected during the execution";
    JIT_COMPILER_NOT_FOUND 221 error "cudaErrorJitCompilerNotFound" "PTX JIT compiler library not found";
    UNSUPPORTED_PTX_VERSION 222 error "cudaErrorUnsupportedPtxVersion"
        "the provided PTX was compiled with an unsupported toolchain.";
    JIT_COMPILATION_DISABLED 223 error "cudaErrorJitCompilationDisabled" "PTX JIT compilation was disabled";
    UNSUPPORTED_EXEC_AFFINITY 224 error "cudaErrorUnsupportedExecAffinity"
        "the provided execution affinity is not supported";
    UNSUPPORTED_DEVSIDE_SYNC 225 error "cudaErrorUnsupportedDevSideSync"
        "the operation cannot be performed on the present device";
    CONTAINED 226 error "cudaErrorContained" "contained error of the device";
    INSUFFICIENT_LOADER_VERSION 227 error "cudaErrorInsufficientLoaderVersion"
        "the loader is too old for what the driver needs";
    INVALID_SOURCE 300 error "cudaErrorInvalidSource" "device kernel image is invalid";
    FILE_NOT_FOUND 301 error "cudaErrorFileNotFound" "file not found";
    SHARED_OBJECT_SYMBOL_NOT_FOUND 302 error "cudaErrorSharedObjectSymbolNotFound" "shared object symbol not found";
    SHARED_OBJECT_INIT_FAILED 303 error "cudaErrorSharedObjectInitFailed" "shared object initialization failed";
    OPERATING_SYSTEM 304 error "cudaErrorOperatingSystem" "OS call failed or operation not supported on this OS";
    INVALID_HANDLE 400 error "cudaErrorInvalidResourceHandle" "invalid resource handle";
    ILLEGAL_STATE 401 error "cudaErrorIllegalState" "the operation cannot be performed in the present state";
    LOSSY_QUERY 402 error "cudaErrorLossyQuery" "attempted introspection would be semantically lossy";
    NOT_FOUND 500 error "cudaErrorSymbolNotFound" "named symbol not found";
    NOT_READY 600 error "cudaErrorNotReady" "device not ready";
    ILLEGAL_ADDRESS 700 error "cudaErrorIllegalAddress" "an illegal memory access was encountered";
    LAUNCH_OUT_OF_RESOURCES 701 error "cudaErrorLaunchOutOfResources" "too many resources requested for launch";
    LAUNCH_TIMEOUT 702 error "cudaErrorLaunchTimeout" "the launch timed out and was terminated";
    LAUNCH_INCOMPATIBLE_TEXTURING 703 error "cudaErrorLaunchIncompatibleTexturing"
        "launch uses incompatible texturing mode";
    PEER_ACCESS_ALREADY_ENABLED 704 error "cudaErrorPeerAccessAlreadyEnabled" "peer access is already enabled";
    PEER_ACCESS_NOT_ENABLED 705 error "cudaErrorPeerAccessNotEnabled" "peer access has not been enabled";
    PRIMARY_CONTEXT_ACTIVE 708 error "cudaErrorSetOnActiveProcess"
        "cannot set while device is active in this process";
    CONTEXT_IS_DESTROYED 709 error "cudaErrorContextIsDestroyed" "context is destroyed";
    ASSERT 710 error "cudaErrorAssert" "device-side assert triggered";
    TOO_MANY_PEERS 711 error "cudaErrorTooManyPeers" "peer mapping resources exhausted";
    HOST_MEMORY_ALREADY_REGISTERED 712 error "cudaErrorHostMemoryAlreadyRegistered"
        "part or all of the requested memory range is already mapped";
    HOST_MEMORY_NOT_REGISTERED 713 error "cudaErrorHostMemoryNotRegistered"
        "pointer does not correspond to a registered memory region";
    HARDWARE_STACK_ERROR 714 error "cudaErrorHardwareStackError" "hardware stack error";
    ILLEGAL_INSTRUCTION 715 error "cudaErrorIllegalInstruction" "an illegal instruction was encountered";
    MISALIGNED_ADDRESS 716 error "cudaErrorMisalignedAddress" "misaligned address";
    INVALID_ADDRESS_SPACE 717 error "cudaErrorInvalidAddressSpace"
        "operation not supported on global/shared address space";
    INVALID_PC 718 error "cudaErrorInvalidPc" "invalid program counter";
    LAUNCH_FAILED 719 error "cudaErrorLaunchFailure" "unspecified launch failure";
    COOPERATIVE_LAUNCH_TOO_LARGE 720 error "cudaErrorCooperativeLaunchTooLarge"
        "too many blocks in cooperative launch";
    TENSOR_MEMORY_LEAK 721 error "cudaErrorTensorMemoryLeak" "tensor memory was not freed";
    NOT_PERMITTED 800 error "cudaErrorNotPermitted" "operation not permitted";
    NOT_SUPPORTED 801 error "cudaErrorNotSupported" "operation not supported";
    SYSTEM_NOT_READY 802 error "cudaErrorSystemNotReady" "system not yet initialized";
    SYSTEM_DRIVER_MISMATCH 803 error "cudaErrorSystemDriverMismatch"
        "system has unsupported display driver / cuda driver combination";
    COMPAT_NOT_SUPPORTED_ON_DEVICE 804 error "cudaErrorCompatNotSupportedOnDevice"
        "forward compatibility was attempted on non supported HW";
    MPS_CONNECTION_FAILED 805 error "cudaErrorMpsConnectionFailed"
        "MPS client failed to connect to the MPS control daemon or the MPS server";
    MPS_RPC_FAILURE 806 error "cudaErrorMpsRpcFailure"
        "the remote procedural call between the MPS server and the MPS client failed";
    MPS_SERVER_NOT_READY 807 error "cudaErrorMpsServerNotReady"
        "MPS server is not ready to accept new MPS client requests";
    MPS_MAX_CLIENTS_REACHED 808 error "cudaErrorMpsMaxClientsReached" "maximum number of MPS clients was reached";
    MPS_MAX_CONNECTIONS_REACHED 809 error "cudaErrorMpsMaxConnectionsReached"
        "maximum number of device connections was reached";
    MPS_CLIENT_TERMINATED 810 error "cudaErrorMpsClientTerminated" "the MPS client was terminated by the server";
    CDP_NOT_SUPPORTED 811 error "cudaErrorCdpNotSupported" "the device cannot launch kernels from kernels";
    CDP_VERSION_MISMATCH 812 error "cudaErrorCdpVersionMismatch" "versions of device-side launches do not fit";
    STREAM_CAPTURE_UNSUPPORTED 900 error "cudaErrorStreamCaptureUnsupported"
        "operation not permitted when stream is capturing";
    STREAM_CAPTURE_INVALIDATED 901 error "cudaErrorStreamCaptureInvalidated"
        "operation failed due to a previous error during capture";
    STREAM_CAPTURE_MERGE 902 error "cudaErrorStreamCaptureMerge"
        "operation would result in a merge of separate capture sequences";
    STREAM_CAPTURE_UNMATCHED 903 error "cudaErrorStreamCaptureUnmatched"
        "capture was not ended in the same stream as it began";
    STREAM_CAPTURE_UNJOINED 904 error "cudaErrorStreamCaptureUnjoined" "capturing stream has unjoined work";
    STREAM_CAPTURE_ISOLATION 905 error "cudaErrorStreamCaptureIsolation"
        "dependency created on uncaptured work in another stream";
    STREAM_CAPTURE_IMPLICIT 906 error "cudaErrorStreamCaptureImplicit"
        "operation would make the legacy stream depend on a capturing blocking stream";
    CAPTURED_EVENT 907 error "cudaErrorCapturedEvent"
        "operation not permitted on an event last recorded in a capturing stream";
    STREAM_CAPTURE_WRONG_THREAD 908 error "cudaErrorStreamCaptureWrongThread"
        "attempt to terminate a thread-local capture sequence from another thread";
    TIMEOUT 909 error "cudaErrorTimeout" "wait operation timed out";
    GRAPH_EXEC_UPDATE_FAILURE 910 error "cudaErrorGraphExecUpdateFailure"
        "the graph update was not performed: its nodes are not those of the instance";
    EXTERNAL_DEVICE 911 error "cudaErrorExternalDevice"
        "an async error has occurred in external entity outside of CUDA";
    INVALID_CLUSTER_SIZE 912 error "cudaErrorInvalidClusterSize" "invalid cluster size";
    FUNCTION_NOT_LOADED 913 error "cudaErrorFunctionNotLoaded" "function is not loaded";
    INVALID_RESOURCE_TYPE 914 error "cudaErrorInvalidResourceType" "invalid resource type";
    INVALID_RESOURCE_CONFIGURATION 915 error "cudaErrorInvalidResourceConfiguration" "invalid resource configuration";
    KEY_ROTATION 916 error "" "keys are being rotated";
    STREAM_DETACHED 917 error "cudaErrorStreamDetached" "stream is detached";
    GRAPH_RECAPTURE_FAILURE 918 error "cudaErrorGraphRecaptureFailure" "the graph could not be captured again";
    FABRIC_NOT_READY 919 error "cudaErrorFabricNotReady" "the fabric is not ready";
    UNKNOWN 999 error "cudaErrorUnknown" "unknown error";
}

impl Status {
    fn row(self) -> Option<&'static Row> {
        let at = Status::ALL.binary_search_by_key(&self.0, |row| row.status.0).ok()?;
        Status::ALL.get(at)
    }

    /// Its name in the driver API, such as `CUDA_ERROR_INVALID_VALUE`, if it has one there.
    pub fn driver_name(self) -> Option<&'static CStr> {
        self.row().map(|row| row.driver).filter(|name| !name.is_empty())
    }

    /// Its name in the runtime API, such as `cudaErrorInvalidValue`, if it has one there.
    pub fn runtime_name(self) -> Option<&'static CStr> {
        self.row().map(|row| row.runtime).filter(|name| !name.is_empty())
    }

    /// What it means, in a few words.
    pub fn text(self) -> Option<&'static CStr> {
        self.row().map(|row| row.text)
    }

    /// Whether it stays: after it, every call in the context fails until the context is reset.
    pub fn is_sticky(self) -> bool {
        matches!(self.0, 700 | 702 | 710 | 714..=719)
    }
}

impl fmt::Debug for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.driver_name().or_else(|| self.runtime_name()).and_then(|name| name.to_str().ok());
        write!(f, "{} ({})", name.unwrap_or("a number that CUDA does not have"), self.0)
    }
}

/// What a fault of a kernel is on a card.
impl From<&RunError> for Status {
    fn from(error: &RunError) -> Status {
        match error.kind {
            RunErrorKind::OutOfBounds | RunErrorKind::Forbidden | RunErrorKind::HeapUse => Status::ILLEGAL_ADDRESS,
            RunErrorKind::Misaligned => Status::MISALIGNED_ADDRESS,
            RunErrorKind::StackOverflow => Status::HARDWARE_STACK_ERROR,
            RunErrorKind::Limit | RunErrorKind::Timeout | RunErrorKind::Deadlock | RunErrorKind::Stopped => {
                Status::LAUNCH_TIMEOUT
            }
            RunErrorKind::Memory => Status::OUT_OF_MEMORY,
            RunErrorKind::Unsupported => Status::NOT_SUPPORTED,
            RunErrorKind::Malformed | RunErrorKind::Video(_) => Status::INVALID_PTX,
            RunErrorKind::UnknownEntry => Status::NOT_FOUND,
            RunErrorKind::LaunchShape | RunErrorKind::Argument => Status::INVALID_VALUE,
            RunErrorKind::Link => Status::INVALID_IMAGE,
            // `__assertfail` is a trap with a message of its own.
            RunErrorKind::Trap if error.message.contains("assertion") => Status::ASSERT,
            _ => Status::LAUNCH_FAILED,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_by_number() {
        assert!(Status::ALL.is_sorted_by_key(|row| row.status.0));
    }

    #[test]
    fn a_number_has_its_names() {
        assert_eq!(Status::ILLEGAL_ADDRESS.driver_name(), Some(c"CUDA_ERROR_ILLEGAL_ADDRESS"));
        assert_eq!(Status::ILLEGAL_ADDRESS.runtime_name(), Some(c"cudaErrorIllegalAddress"));
        assert_eq!(Status(9).driver_name(), None);
        assert_eq!(Status(9).runtime_name(), Some(c"cudaErrorInvalidConfiguration"));
        assert_eq!(Status(11).text(), None);
    }
}
