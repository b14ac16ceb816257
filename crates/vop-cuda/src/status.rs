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
    ($($name:ident $number:literal $driver:literal $runtime:literal $text:literal;)*) => {
        impl Status {
            $(#[doc = concat!("\"", $text, "\"")] pub const $name: Status = Status($number);)*

            const ALL: &'static [Row] = &[$(Row {
                status: Status::$name,
                driver: with_zero(concat!($driver, "\0")),
                runtime: with_zero(concat!($runtime, "\0")),
                text: with_zero(concat!($text, "\0")),
            }),*];
        }
    };
}

statuses! {
    SUCCESS 0 "CUDA_SUCCESS" "cudaSuccess" "no error";
    INVALID_VALUE 1 "CUDA_ERROR_INVALID_VALUE" "cudaErrorInvalidValue" "invalid argument";
    OUT_OF_MEMORY 2 "CUDA_ERROR_OUT_OF_MEMORY" "cudaErrorMemoryAllocation" "out of memory";
    NOT_INITIALIZED 3 "CUDA_ERROR_NOT_INITIALIZED" "cudaErrorInitializationError" "initialization error";
    DEINITIALIZED 4 "CUDA_ERROR_DEINITIALIZED" "cudaErrorCudartUnloading" "driver shutting down";
    PROFILER_DISABLED 5 "CUDA_ERROR_PROFILER_DISABLED" "cudaErrorProfilerDisabled" "profiler is disabled";
    PROFILER_NOT_INITIALIZED 6 "CUDA_ERROR_PROFILER_NOT_INITIALIZED" "cudaErrorProfilerNotInitialized" "profiler is not initialized";
    PROFILER_ALREADY_STARTED 7 "CUDA_ERROR_PROFILER_ALREADY_STARTED" "cudaErrorProfilerAlreadyStarted" "profiler was already started";
    PROFILER_ALREADY_STOPPED 8 "CUDA_ERROR_PROFILER_ALREADY_STOPPED" "cudaErrorProfilerAlreadyStopped" "profiler was already stopped";
    INVALID_CONFIGURATION 9 "" "cudaErrorInvalidConfiguration" "invalid configuration argument";
    VERSION_TRANSLATION 10 "" "cudaErrorVersionTranslation" "API of a version that the runtime does not translate";
    INVALID_PITCH_VALUE 12 "" "cudaErrorInvalidPitchValue" "invalid pitch argument";
    INVALID_SYMBOL 13 "" "cudaErrorInvalidSymbol" "invalid device symbol";
    INVALID_HOST_POINTER 16 "" "cudaErrorInvalidHostPointer" "invalid host pointer";
    INVALID_DEVICE_POINTER 17 "" "cudaErrorInvalidDevicePointer" "invalid device pointer";
    INVALID_TEXTURE 18 "" "cudaErrorInvalidTexture" "invalid texture reference";
    INVALID_TEXTURE_BINDING 19 "" "cudaErrorInvalidTextureBinding" "texture is not bound to a pointer";
    INVALID_CHANNEL_DESCRIPTOR 20 "" "cudaErrorInvalidChannelDescriptor" "invalid channel descriptor";
    INVALID_MEMCPY_DIRECTION 21 "" "cudaErrorInvalidMemcpyDirection" "invalid copy direction for memcpy";
    ADDRESS_OF_CONSTANT 22 "" "cudaErrorAddressOfConstant" "address of a constant";
    TEXTURE_FETCH_FAILED 23 "" "cudaErrorTextureFetchFailed" "fetch from texture failed";
    TEXTURE_NOT_BOUND 24 "" "cudaErrorTextureNotBound" "cannot fetch from a texture that is not bound";
    SYNCHRONIZATION_ERROR 25 "" "cudaErrorSynchronizationError" "incorrect use of synchronization";
    INVALID_FILTER_SETTING 26 "" "cudaErrorInvalidFilterSetting" "linear filtering not supported for non-float type";
    INVALID_NORM_SETTING 27 "" "cudaErrorInvalidNormSetting" "read as normalized float not supported for 32-bit non float type";
    MIXED_DEVICE_EXECUTION 28 "" "cudaErrorMixedDeviceExecution" "device kernel image is not built for emulation";
    NOT_YET_IMPLEMENTED 31 "" "cudaErrorNotYetImplemented" "feature not yet implemented";
    MEMORY_VALUE_TOO_LARGE 32 "" "cudaErrorMemoryValueTooLarge" "memory size or pointer value too large to fit in 32 bit";
    STUB_LIBRARY 34 "CUDA_ERROR_STUB_LIBRARY" "cudaErrorStubLibrary" "CUDA driver is a stub library";
    INSUFFICIENT_DRIVER 35 "" "cudaErrorInsufficientDriver" "CUDA driver version is insufficient for CUDA runtime version";
    CALL_REQUIRES_NEWER_DRIVER 36 "CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER" "cudaErrorCallRequiresNewerDriver" "API call is not supported in the installed CUDA driver";
    INVALID_SURFACE 37 "" "cudaErrorInvalidSurface" "invalid surface reference";
    DUPLICATE_VARIABLE_NAME 43 "" "cudaErrorDuplicateVariableName" "duplicate global variable looked up by string name";
    DUPLICATE_TEXTURE_NAME 44 "" "cudaErrorDuplicateTextureName" "duplicate texture looked up by string name";
    DUPLICATE_SURFACE_NAME 45 "" "cudaErrorDuplicateSurfaceName" "duplicate surface looked up by string name";
    DEVICE_UNAVAILABLE 46 "CUDA_ERROR_DEVICE_UNAVAILABLE" "cudaErrorDevicesUnavailable" "CUDA-capable device(s) is/are busy or unavailable";
    MULTICAST_RESOURCE_FULL 47 "CUDA_ERROR_MULTICAST_RESOURCE_FULL" "" "no resources for multicast are left";
    INCOMPATIBLE_DRIVER_CONTEXT 49 "" "cudaErrorIncompatibleDriverContext" "incompatible driver context";
    MISSING_CONFIGURATION 52 "" "cudaErrorMissingConfiguration" "__global__ function call is not configured";
    PRIOR_LAUNCH_FAILURE 53 "" "cudaErrorPriorLaunchFailure" "unspecified launch failure in prior launch";
    LAUNCH_MAX_DEPTH_EXCEEDED 65 "" "cudaErrorLaunchMaxDepthExceeded" "launch would exceed maximum depth of nested launches";
    LAUNCH_FILE_SCOPED_TEX 66 "" "cudaErrorLaunchFileScopedTex" "launch failed because kernel uses textures of file scope";
    LAUNCH_FILE_SCOPED_SURF 67 "" "cudaErrorLaunchFileScopedSurf" "launch failed because kernel uses surfaces of file scope";
    SYNC_DEPTH_EXCEEDED 68 "" "cudaErrorSyncDepthExceeded" "cudaDeviceSynchronize would exceed the depth of nested launches";
    LAUNCH_PENDING_COUNT_EXCEEDED 69 "" "cudaErrorLaunchPendingCountExceeded" "launch failed because too many launches are pending";
    INVALID_DEVICE_FUNCTION 98 "" "cudaErrorInvalidDeviceFunction" "invalid device function";
    NO_DEVICE 100 "CUDA_ERROR_NO_DEVICE" "cudaErrorNoDevice" "no CUDA-capable device is detected";
    INVALID_DEVICE 101 "CUDA_ERROR_INVALID_DEVICE" "cudaErrorInvalidDevice" "invalid device ordinal";
    DEVICE_NOT_LICENSED 102 "CUDA_ERROR_DEVICE_NOT_LICENSED" "cudaErrorDeviceNotLicensed" "device does not have a valid grid license";
    SOFTWARE_VALIDITY_NOT_ESTABLISHED 103 "" "cudaErrorSoftwareValidityNotEstablished" "integrity checks of the software have not been done";
    STARTUP_FAILURE 127 "" "cudaErrorStartupFailure" "startup failure in cuda runtime";
    INVALID_IMAGE 200 "CUDA_ERROR_INVALID_IMAGE" "cudaErrorInvalidKernelImage" "device kernel image is invalid";
    INVALID_CONTEXT 201 "CUDA_ERROR_INVALID_CONTEXT" "cudaErrorDeviceUninitialized" "invalid device context";
    CONTEXT_ALREADY_CURRENT 202 "CUDA_ERROR_CONTEXT_ALREADY_CURRENT" "" "context is already current";
    MAP_FAILED 205 "CUDA_ERROR_MAP_FAILED" "cudaErrorMapBufferObjectFailed" "mapping of buffer object failed";
    UNMAP_FAILED 206 "CUDA_ERROR_UNMAP_FAILED" "cudaErrorUnmapBufferObjectFailed" "unmapping of buffer object failed";
    ARRAY_IS_MAPPED 207 "CUDA_ERROR_ARRAY_IS_MAPPED" "cudaErrorArrayIsMapped" "array is mapped";
    ALREADY_MAPPED 208 "CUDA_ERROR_ALREADY_MAPPED" "cudaErrorAlreadyMapped" "resource already mapped";
    NO_BINARY_FOR_GPU 209 "CUDA_ERROR_NO_BINARY_FOR_GPU" "cudaErrorNoKernelImageForDevice" "no kernel image is available for execution on the device";
    ALREADY_ACQUIRED 210 "CUDA_ERROR_ALREADY_ACQUIRED" "cudaErrorAlreadyAcquired" "resource already acquired";
    NOT_MAPPED 211 "CUDA_ERROR_NOT_MAPPED" "cudaErrorNotMapped" "resource not mapped";
    NOT_MAPPED_AS_ARRAY 212 "CUDA_ERROR_NOT_MAPPED_AS_ARRAY" "cudaErrorNotMappedAsArray" "resource not mapped as array";
    NOT_MAPPED_AS_POINTER 213 "CUDA_ERROR_NOT_MAPPED_AS_POINTER" "cudaErrorNotMappedAsPointer" "resource not mapped as pointer";
    ECC_UNCORRECTABLE 214 "CUDA_ERROR_ECC_UNCORRECTABLE" "cudaErrorECCUncorrectable" "uncorrectable ECC error encountered";
    UNSUPPORTED_LIMIT 215 "CUDA_ERROR_UNSUPPORTED_LIMIT" "cudaErrorUnsupportedLimit" "limit is not supported on this architecture";
    CONTEXT_ALREADY_IN_USE 216 "CUDA_ERROR_CONTEXT_ALREADY_IN_USE" "cudaErrorDeviceAlreadyInUse" "exclusive-thread device already in use by a different thread";
    PEER_ACCESS_UNSUPPORTED 217 "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED" "cudaErrorPeerAccessUnsupported" "peer access is not supported between these two devices";
    INVALID_PTX 218 "CUDA_ERROR_INVALID_PTX" "cudaErrorInvalidPtx" "a PTX JIT compilation failed";
    INVALID_GRAPHICS_CONTEXT 219 "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT" "cudaErrorInvalidGraphicsContext" "invalid OpenGL or DirectX context";
    NVLINK_UNCORRECTABLE 220 "CUDA_ERROR_NVLINK_UNCORRECTABLE" "cudaErrorNvlinkUncorrectable" "uncorrectable NVLink error detected during the execution";
    JIT_COMPILER_NOT_FOUND 221 "CUDA_ERROR_JIT_COMPILER_NOT_FOUND" "cudaErrorJitCompilerNotFound" "PTX JIT compiler library not found";
    UNSUPPORTED_PTX_VERSION 222 "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" "cudaErrorUnsupportedPtxVersion" "the provided PTX was compiled with an unsupported toolchain.";
    JIT_COMPILATION_DISABLED 223 "CUDA_ERROR_JIT_COMPILATION_DISABLED" "cudaErrorJitCompilationDisabled" "PTX JIT compilation was disabled";
    UNSUPPORTED_EXEC_AFFINITY 224 "CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY" "cudaErrorUnsupportedExecAffinity" "the provided execution affinity is not supported";
    UNSUPPORTED_DEVSIDE_SYNC 225 "CUDA_ERROR_UNSUPPORTED_DEVSIDE_SYNC" "cudaErrorUnsupportedDevSideSync" "the operation cannot be performed on the present device";
    CONTAINED 226 "CUDA_ERROR_CONTAINED" "cudaErrorContained" "contained error of the device";
    INSUFFICIENT_LOADER_VERSION 227 "CUDA_ERROR_INSUFFICIENT_LOADER_VERSION" "cudaErrorInsufficientLoaderVersion" "the loader is too old for what the driver needs";
    INVALID_SOURCE 300 "CUDA_ERROR_INVALID_SOURCE" "cudaErrorInvalidSource" "device kernel image is invalid";
    FILE_NOT_FOUND 301 "CUDA_ERROR_FILE_NOT_FOUND" "cudaErrorFileNotFound" "file not found";
    SHARED_OBJECT_SYMBOL_NOT_FOUND 302 "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND" "cudaErrorSharedObjectSymbolNotFound" "shared object symbol not found";
    SHARED_OBJECT_INIT_FAILED 303 "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED" "cudaErrorSharedObjectInitFailed" "shared object initialization failed";
    OPERATING_SYSTEM 304 "CUDA_ERROR_OPERATING_SYSTEM" "cudaErrorOperatingSystem" "OS call failed or operation not supported on this OS";
    INVALID_HANDLE 400 "CUDA_ERROR_INVALID_HANDLE" "cudaErrorInvalidResourceHandle" "invalid resource handle";
    ILLEGAL_STATE 401 "CUDA_ERROR_ILLEGAL_STATE" "cudaErrorIllegalState" "the operation cannot be performed in the present state";
    LOSSY_QUERY 402 "CUDA_ERROR_LOSSY_QUERY" "cudaErrorLossyQuery" "attempted introspection would be semantically lossy";
    NOT_FOUND 500 "CUDA_ERROR_NOT_FOUND" "cudaErrorSymbolNotFound" "named symbol not found";
    NOT_READY 600 "CUDA_ERROR_NOT_READY" "cudaErrorNotReady" "device not ready";
    ILLEGAL_ADDRESS 700 "CUDA_ERROR_ILLEGAL_ADDRESS" "cudaErrorIllegalAddress" "an illegal memory access was encountered";
    LAUNCH_OUT_OF_RESOURCES 701 "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES" "cudaErrorLaunchOutOfResources" "too many resources requested for launch";
    LAUNCH_TIMEOUT 702 "CUDA_ERROR_LAUNCH_TIMEOUT" "cudaErrorLaunchTimeout" "the launch timed out and was terminated";
    LAUNCH_INCOMPATIBLE_TEXTURING 703 "CUDA_ERROR_LAUNCH_INCOMPATIBLE_TEXTURING" "cudaErrorLaunchIncompatibleTexturing" "launch uses incompatible texturing mode";
    PEER_ACCESS_ALREADY_ENABLED 704 "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED" "cudaErrorPeerAccessAlreadyEnabled" "peer access is already enabled";
    PEER_ACCESS_NOT_ENABLED 705 "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED" "cudaErrorPeerAccessNotEnabled" "peer access has not been enabled";
    PRIMARY_CONTEXT_ACTIVE 708 "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE" "cudaErrorSetOnActiveProcess" "cannot set while device is active in this process";
    CONTEXT_IS_DESTROYED 709 "CUDA_ERROR_CONTEXT_IS_DESTROYED" "cudaErrorContextIsDestroyed" "context is destroyed";
    ASSERT 710 "CUDA_ERROR_ASSERT" "cudaErrorAssert" "device-side assert triggered";
    TOO_MANY_PEERS 711 "CUDA_ERROR_TOO_MANY_PEERS" "cudaErrorTooManyPeers" "peer mapping resources exhausted";
    HOST_MEMORY_ALREADY_REGISTERED 712 "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED" "cudaErrorHostMemoryAlreadyRegistered" "part or all of the requested memory range is already mapped";
    HOST_MEMORY_NOT_REGISTERED 713 "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED" "cudaErrorHostMemoryNotRegistered" "pointer does not correspond to a registered memory region";
    HARDWARE_STACK_ERROR 714 "CUDA_ERROR_HARDWARE_STACK_ERROR" "cudaErrorHardwareStackError" "hardware stack error";
    ILLEGAL_INSTRUCTION 715 "CUDA_ERROR_ILLEGAL_INSTRUCTION" "cudaErrorIllegalInstruction" "an illegal instruction was encountered";
    MISALIGNED_ADDRESS 716 "CUDA_ERROR_MISALIGNED_ADDRESS" "cudaErrorMisalignedAddress" "misaligned address";
    INVALID_ADDRESS_SPACE 717 "CUDA_ERROR_INVALID_ADDRESS_SPACE" "cudaErrorInvalidAddressSpace" "operation not supported on global/shared address space";
    INVALID_PC 718 "CUDA_ERROR_INVALID_PC" "cudaErrorInvalidPc" "invalid program counter";
    LAUNCH_FAILED 719 "CUDA_ERROR_LAUNCH_FAILED" "cudaErrorLaunchFailure" "unspecified launch failure";
    COOPERATIVE_LAUNCH_TOO_LARGE 720 "CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE" "cudaErrorCooperativeLaunchTooLarge" "too many blocks in cooperative launch";
    TENSOR_MEMORY_LEAK 721 "CUDA_ERROR_TENSOR_MEMORY_LEAK" "cudaErrorTensorMemoryLeak" "tensor memory was not freed";
    NOT_PERMITTED 800 "CUDA_ERROR_NOT_PERMITTED" "cudaErrorNotPermitted" "operation not permitted";
    NOT_SUPPORTED 801 "CUDA_ERROR_NOT_SUPPORTED" "cudaErrorNotSupported" "operation not supported";
    SYSTEM_NOT_READY 802 "CUDA_ERROR_SYSTEM_NOT_READY" "cudaErrorSystemNotReady" "system not yet initialized";
    SYSTEM_DRIVER_MISMATCH 803 "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH" "cudaErrorSystemDriverMismatch" "system has unsupported display driver / cuda driver combination";
    COMPAT_NOT_SUPPORTED_ON_DEVICE 804 "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE" "cudaErrorCompatNotSupportedOnDevice" "forward compatibility was attempted on non supported HW";
    MPS_CONNECTION_FAILED 805 "CUDA_ERROR_MPS_CONNECTION_FAILED" "cudaErrorMpsConnectionFailed" "MPS client failed to connect to the MPS control daemon or the MPS server";
    MPS_RPC_FAILURE 806 "CUDA_ERROR_MPS_RPC_FAILURE" "cudaErrorMpsRpcFailure" "the remote procedural call between the MPS server and the MPS client failed";
    MPS_SERVER_NOT_READY 807 "CUDA_ERROR_MPS_SERVER_NOT_READY" "cudaErrorMpsServerNotReady" "MPS server is not ready to accept new MPS client requests";
    MPS_MAX_CLIENTS_REACHED 808 "CUDA_ERROR_MPS_MAX_CLIENTS_REACHED" "cudaErrorMpsMaxClientsReached" "maximum number of MPS clients was reached";
    MPS_MAX_CONNECTIONS_REACHED 809 "CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED" "cudaErrorMpsMaxConnectionsReached" "maximum number of device connections was reached";
    MPS_CLIENT_TERMINATED 810 "CUDA_ERROR_MPS_CLIENT_TERMINATED" "cudaErrorMpsClientTerminated" "the MPS client was terminated by the server";
    CDP_NOT_SUPPORTED 811 "CUDA_ERROR_CDP_NOT_SUPPORTED" "cudaErrorCdpNotSupported" "the device cannot launch kernels from kernels";
    CDP_VERSION_MISMATCH 812 "CUDA_ERROR_CDP_VERSION_MISMATCH" "cudaErrorCdpVersionMismatch" "versions of device-side launches do not fit";
    STREAM_CAPTURE_UNSUPPORTED 900 "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED" "cudaErrorStreamCaptureUnsupported" "operation not permitted when stream is capturing";
    STREAM_CAPTURE_INVALIDATED 901 "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED" "cudaErrorStreamCaptureInvalidated" "operation failed due to a previous error during capture";
    STREAM_CAPTURE_MERGE 902 "CUDA_ERROR_STREAM_CAPTURE_MERGE" "cudaErrorStreamCaptureMerge" "operation would result in a merge of separate capture sequences";
    STREAM_CAPTURE_UNMATCHED 903 "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED" "cudaErrorStreamCaptureUnmatched" "capture was not ended in the same stream as it began";
    STREAM_CAPTURE_UNJOINED 904 "CUDA_ERROR_STREAM_CAPTURE_UNJOINED" "cudaErrorStreamCaptureUnjoined" "capturing stream has unjoined work";
    STREAM_CAPTURE_ISOLATION 905 "CUDA_ERROR_STREAM_CAPTURE_ISOLATION" "cudaErrorStreamCaptureIsolation" "dependency created on uncaptured work in another stream";
    STREAM_CAPTURE_IMPLICIT 906 "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT" "cudaErrorStreamCaptureImplicit" "operation would make the legacy stream depend on a capturing blocking stream";
    CAPTURED_EVENT 907 "CUDA_ERROR_CAPTURED_EVENT" "cudaErrorCapturedEvent" "operation not permitted on an event last recorded in a capturing stream";
    STREAM_CAPTURE_WRONG_THREAD 908 "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD" "cudaErrorStreamCaptureWrongThread" "attempt to terminate a thread-local capture sequence from another thread";
    TIMEOUT 909 "CUDA_ERROR_TIMEOUT" "cudaErrorTimeout" "wait operation timed out";
    GRAPH_EXEC_UPDATE_FAILURE 910 "CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE" "cudaErrorGraphExecUpdateFailure" "the graph update was not performed because it included changes which violated constraints specific to instantiated graph update";
    EXTERNAL_DEVICE 911 "CUDA_ERROR_EXTERNAL_DEVICE" "cudaErrorExternalDevice" "an async error has occurred in external entity outside of CUDA";
    INVALID_CLUSTER_SIZE 912 "CUDA_ERROR_INVALID_CLUSTER_SIZE" "cudaErrorInvalidClusterSize" "invalid cluster size";
    FUNCTION_NOT_LOADED 913 "CUDA_ERROR_FUNCTION_NOT_LOADED" "cudaErrorFunctionNotLoaded" "function is not loaded";
    INVALID_RESOURCE_TYPE 914 "CUDA_ERROR_INVALID_RESOURCE_TYPE" "cudaErrorInvalidResourceType" "invalid resource type";
    INVALID_RESOURCE_CONFIGURATION 915 "CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION" "cudaErrorInvalidResourceConfiguration" "invalid resource configuration";
    KEY_ROTATION 916 "CUDA_ERROR_KEY_ROTATION" "" "keys are being rotated";
    STREAM_DETACHED 917 "CUDA_ERROR_STREAM_DETACHED" "cudaErrorStreamDetached" "stream is detached";
    GRAPH_RECAPTURE_FAILURE 918 "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE" "cudaErrorGraphRecaptureFailure" "the graph could not be captured again";
    FABRIC_NOT_READY 919 "CUDA_ERROR_FABRIC_NOT_READY" "cudaErrorFabricNotReady" "the fabric is not ready";
    UNKNOWN 999 "CUDA_ERROR_UNKNOWN" "cudaErrorUnknown" "unknown error";
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
