//! Which symbol a name means: in cuda.h, a macro puts the newest version in the place of the plain name, so a program that asks for a
//! name says which version of the header it was written with.

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// The symbol.
    Symbol(String),
    /// The first version came later than the one that was asked for.
    Newer,
    /// Nothing has the name.
    Nothing,
}

/// The symbol that a name means in a version of CUDA. With `per_thread`, the one whose default stream is the thread's own, if there is one.
pub(super) fn find(name: &str, version: i32, per_thread: bool) -> Found {
    // `cuMemAlloc_v2` itself, and `_v2` and so on of `cuMemAlloc`.
    let is_of = |symbol: &str| match symbol.strip_prefix(name) {
        Some("") => true,
        Some(rest) => rest.strip_prefix("_v").is_some_and(|digit| digit.len() == 1),
        None => false,
    };
    let mut found = None;
    let mut is_newer = false;
    for (since, symbols) in SYMBOLS {
        for symbol in symbols.split(' ').filter(|symbol| is_of(symbol)) {
            if *since > version {
                is_newer = true;
            } else {
                // Later rows are of later versions.
                found = Some(symbol);
            }
        }
    }
    match found {
        Some(symbol) => Found::Symbol(if per_thread { own_stream(symbol) } else { symbol.to_owned() }),
        None if PROFILER.contains(&name) => Found::Symbol(name.to_owned()),
        None if is_newer => Found::Newer,
        None => Found::Nothing,
    }
}

/// These are in a header of their own.
const PROFILER: [&str; 2] = ["cuProfilerStart", "cuProfilerStop"];

/// The symbol of a function whose default stream is the thread's own.
fn own_stream(symbol: &str) -> String {
    macro_rules! suffixes {
        (functions { $($name:ident)* } ptsz { $($z:ident)* } ptds { $($d:ident)* } unsupported { $($no:ident)* }) => {
            [("_ptsz", &[$(stringify!($z)),*][..]), ("_ptds", &[$(stringify!($d)),*]), ("", &[$(stringify!($no)),*])]
        };
    }
    let [z, d, unsupported] = crate::driver_functions!(suffixes);
    for (suffix, names) in [z, d] {
        if names.contains(&symbol) || unsupported.1.contains(&&*format!("{symbol}{suffix}")) {
            return format!("{symbol}{suffix}");
        }
    }
    symbol.to_owned()
}

/// All symbols, by the version of CUDA that they came with.
const SYMBOLS: &[(i32, &str)] = &[
    (
        2000,
        "cuArray3DCreate cuArray3DGetDescriptor cuArrayCreate cuArrayDestroy cuArrayGetDescriptor \
         cuCtxAttach cuCtxCreate cuCtxDestroy cuCtxDetach cuCtxGetDevice cuCtxPopCurrent cuCtxPushCurrent \
         cuCtxSynchronize cuDeviceComputeCapability cuDeviceGet cuDeviceGetAttribute cuDeviceGetCount \
         cuDeviceGetName cuDeviceGetProperties cuDeviceTotalMem cuEventCreate cuEventDestroy \
         cuEventElapsedTime cuEventQuery cuEventRecord cuEventSynchronize cuFuncSetBlockShape \
         cuFuncSetSharedSize cuInit cuLaunch cuLaunchGrid cuLaunchGridAsync cuMemAlloc cuMemAllocHost \
         cuMemAllocPitch cuMemFree cuMemFreeHost cuMemGetAddressRange cuMemGetInfo cuMemcpy2D \
         cuMemcpy2DAsync cuMemcpy2DUnaligned cuMemcpy3D cuMemcpy3DAsync cuMemcpyAtoA cuMemcpyAtoD \
         cuMemcpyAtoH cuMemcpyAtoHAsync cuMemcpyDtoA cuMemcpyDtoD cuMemcpyDtoH cuMemcpyDtoHAsync \
         cuMemcpyHtoA cuMemcpyHtoAAsync cuMemcpyHtoD cuMemcpyHtoDAsync cuMemsetD16 cuMemsetD2D16 \
         cuMemsetD2D32 cuMemsetD2D8 cuMemsetD32 cuMemsetD8 cuModuleGetFunction cuModuleGetGlobal \
         cuModuleGetTexRef cuModuleLoad cuModuleLoadData cuModuleLoadFatBinary cuModuleUnload cuParamSetSize \
         cuParamSetTexRef cuParamSetf cuParamSeti cuParamSetv cuStreamCreate cuStreamDestroy cuStreamQuery \
         cuStreamSynchronize cuTexRefCreate cuTexRefDestroy cuTexRefGetAddress cuTexRefGetAddressMode \
         cuTexRefGetArray cuTexRefGetFilterMode cuTexRefGetFlags cuTexRefGetFormat cuTexRefSetAddress \
         cuTexRefSetAddressMode cuTexRefSetArray cuTexRefSetFilterMode cuTexRefSetFlags cuTexRefSetFormat",
    ),
    (2010, "cuModuleLoadDataEx"),
    (2020, "cuDriverGetVersion cuFuncGetAttribute cuMemHostAlloc cuMemHostGetDevicePointer cuTexRefSetAddress2D"),
    (2030, "cuMemHostGetFlags"),
    (
        3000,
        "cuFuncSetCacheConfig cuGetExportTable cuGraphicsMapResources cuGraphicsResourceGetMappedPointer \
         cuGraphicsResourceSetMapFlags cuGraphicsSubResourceGetMappedArray cuGraphicsUnmapResources \
         cuGraphicsUnregisterResource cuMemcpyDtoDAsync cuModuleGetSurfRef cuSurfRefGetArray \
         cuSurfRefSetArray",
    ),
    (3010, "cuCtxGetLimit cuCtxSetLimit"),
    (
        3020,
        "cuArray3DCreate_v2 cuArray3DGetDescriptor_v2 cuArrayCreate_v2 cuArrayGetDescriptor_v2 \
         cuCtxCreate_v2 cuCtxGetApiVersion cuCtxGetCacheConfig cuCtxSetCacheConfig cuDeviceTotalMem_v2 \
         cuGraphicsResourceGetMappedPointer_v2 cuMemAllocHost_v2 cuMemAllocPitch_v2 cuMemAlloc_v2 \
         cuMemFree_v2 cuMemGetAddressRange_v2 cuMemGetInfo_v2 cuMemHostGetDevicePointer_v2 \
         cuMemcpy2DAsync_v2 cuMemcpy2DUnaligned_v2 cuMemcpy2D_v2 cuMemcpy3DAsync_v2 cuMemcpy3D_v2 \
         cuMemcpyAtoA_v2 cuMemcpyAtoD_v2 cuMemcpyAtoHAsync_v2 cuMemcpyAtoH_v2 cuMemcpyDtoA_v2 \
         cuMemcpyDtoDAsync_v2 cuMemcpyDtoD_v2 cuMemcpyDtoHAsync_v2 cuMemcpyDtoH_v2 cuMemcpyHtoAAsync_v2 \
         cuMemcpyHtoA_v2 cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuMemsetD16Async cuMemsetD16_v2 \
         cuMemsetD2D16Async cuMemsetD2D16_v2 cuMemsetD2D32Async cuMemsetD2D32_v2 cuMemsetD2D8Async \
         cuMemsetD2D8_v2 cuMemsetD32Async cuMemsetD32_v2 cuMemsetD8Async cuMemsetD8_v2 cuModuleGetGlobal_v2 \
         cuStreamWaitEvent cuTexRefGetAddress_v2 cuTexRefSetAddress2D_v2 cuTexRefSetAddress_v2",
    ),
    (
        4000,
        "cuCtxDestroy_v2 cuCtxDisablePeerAccess cuCtxEnablePeerAccess cuCtxGetCurrent cuCtxPopCurrent_v2 \
         cuCtxPushCurrent_v2 cuCtxSetCurrent cuDeviceCanAccessPeer cuEventDestroy_v2 cuLaunchKernel \
         cuMemHostRegister cuMemHostUnregister cuMemcpy cuMemcpy3DPeer cuMemcpy3DPeerAsync cuMemcpyAsync \
         cuMemcpyPeer cuMemcpyPeerAsync cuPointerGetAttribute cuProfilerStart cuProfilerStop \
         cuStreamDestroy_v2",
    ),
    (
        4010,
        "cuDeviceGetByPCIBusId cuDeviceGetPCIBusId cuIpcCloseMemHandle cuIpcGetEventHandle cuIpcGetMemHandle \
         cuIpcOpenEventHandle cuIpcOpenMemHandle cuTexRefSetAddress2D_v3",
    ),
    (4020, "cuCtxGetSharedMemConfig cuCtxSetSharedMemConfig cuFuncSetSharedMemConfig"),
    (
        5000,
        "cuGraphicsResourceGetMappedMipmappedArray cuMipmappedArrayCreate cuMipmappedArrayDestroy \
         cuMipmappedArrayGetLevel cuStreamAddCallback cuSurfObjectCreate cuSurfObjectDestroy \
         cuSurfObjectGetResourceDesc cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc \
         cuTexObjectGetResourceViewDesc cuTexObjectGetTextureDesc cuTexRefGetMaxAnisotropy \
         cuTexRefGetMipmapFilterMode cuTexRefGetMipmapLevelBias cuTexRefGetMipmapLevelClamp \
         cuTexRefGetMipmappedArray cuTexRefSetMaxAnisotropy cuTexRefSetMipmapFilterMode \
         cuTexRefSetMipmapLevelBias cuTexRefSetMipmapLevelClamp cuTexRefSetMipmappedArray",
    ),
    (
        5050,
        "cuCtxGetStreamPriorityRange cuLinkAddData cuLinkAddFile cuLinkComplete cuLinkCreate cuLinkDestroy \
         cuStreamCreateWithPriority cuStreamGetFlags cuStreamGetPriority",
    ),
    (6000, "cuGetErrorName cuGetErrorString cuMemAllocManaged cuPointerSetAttribute cuStreamAttachMemAsync"),
    (
        6050,
        "cuGraphicsResourceSetMapFlags_v2 cuLinkAddData_v2 cuLinkAddFile_v2 cuLinkCreate_v2 \
         cuMemHostRegister_v2 cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxPotentialBlockSize",
    ),
    (
        7000,
        "cuCtxGetFlags cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRelease cuDevicePrimaryCtxReset \
         cuDevicePrimaryCtxRetain cuDevicePrimaryCtxSetFlags \
         cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags cuOccupancyMaxPotentialBlockSizeWithFlags \
         cuPointerGetAttributes",
    ),
    (
        8000,
        "cuDeviceGetP2PAttribute cuMemAdvise cuMemPrefetchAsync cuMemRangeGetAttribute \
         cuMemRangeGetAttributes cuStreamBatchMemOp cuStreamWaitValue32 cuStreamWriteValue32 \
         cuTexRefGetBorderColor cuTexRefSetBorderColor",
    ),
    (
        9000,
        "cuFuncSetAttribute cuLaunchCooperativeKernel cuLaunchCooperativeKernelMultiDevice \
         cuStreamWaitValue64 cuStreamWriteValue64",
    ),
    (9020, "cuDeviceGetUuid cuStreamGetCtx"),
    (
        10000,
        "cuDestroyExternalMemory cuDestroyExternalSemaphore cuDeviceGetLuid cuExternalMemoryGetMappedBuffer \
         cuExternalMemoryGetMappedMipmappedArray cuGraphAddChildGraphNode cuGraphAddDependencies \
         cuGraphAddEmptyNode cuGraphAddHostNode cuGraphAddKernelNode cuGraphAddMemcpyNode \
         cuGraphAddMemsetNode cuGraphChildGraphNodeGetGraph cuGraphClone cuGraphCreate cuGraphDestroy \
         cuGraphDestroyNode cuGraphExecDestroy cuGraphGetEdges cuGraphGetNodes cuGraphGetRootNodes \
         cuGraphHostNodeGetParams cuGraphHostNodeSetParams cuGraphInstantiate cuGraphKernelNodeGetParams \
         cuGraphKernelNodeSetParams cuGraphLaunch cuGraphMemcpyNodeGetParams cuGraphMemcpyNodeSetParams \
         cuGraphMemsetNodeGetParams cuGraphMemsetNodeSetParams cuGraphNodeFindInClone \
         cuGraphNodeGetDependencies cuGraphNodeGetDependentNodes cuGraphNodeGetType \
         cuGraphRemoveDependencies cuImportExternalMemory cuImportExternalSemaphore cuLaunchHostFunc \
         cuSignalExternalSemaphoresAsync cuStreamBeginCapture cuStreamEndCapture cuStreamIsCapturing \
         cuWaitExternalSemaphoresAsync",
    ),
    (
        10010,
        "cuGraphExecKernelNodeSetParams cuStreamBeginCapture_v2 cuStreamGetCaptureInfo \
         cuThreadExchangeStreamCaptureMode",
    ),
    (
        10020,
        "cuDeviceGetNvSciSyncAttributes cuGraphExecHostNodeSetParams cuGraphExecMemcpyNodeSetParams \
         cuGraphExecMemsetNodeSetParams cuGraphExecUpdate cuMemAddressFree cuMemAddressReserve cuMemCreate \
         cuMemExportToShareableHandle cuMemGetAccess cuMemGetAllocationGranularity \
         cuMemGetAllocationPropertiesFromHandle cuMemImportFromShareableHandle cuMemMap cuMemRelease \
         cuMemSetAccess cuMemUnmap cuOccupancyAvailableDynamicSMemPerBlock",
    ),
    (
        11000,
        "cuCtxResetPersistingL2Cache cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset_v2 \
         cuDevicePrimaryCtxSetFlags_v2 cuFuncGetModule cuGraphInstantiate_v2 cuGraphKernelNodeCopyAttributes \
         cuGraphKernelNodeGetAttribute cuGraphKernelNodeSetAttribute cuIpcOpenMemHandle_v2 \
         cuMemRetainAllocationHandle cuStreamCopyAttributes cuStreamGetAttribute cuStreamSetAttribute",
    ),
    (
        11010,
        "cuArrayGetSparseProperties cuDeviceGetTexture1DLinearMaxWidth cuEventRecordWithFlags \
         cuGraphAddEventRecordNode cuGraphAddEventWaitNode cuGraphEventRecordNodeGetEvent \
         cuGraphEventRecordNodeSetEvent cuGraphEventWaitNodeGetEvent cuGraphEventWaitNodeSetEvent \
         cuGraphExecChildGraphNodeSetParams cuGraphExecEventRecordNodeSetEvent \
         cuGraphExecEventWaitNodeSetEvent cuGraphUpload cuMemMapArrayAsync \
         cuMipmappedArrayGetSparseProperties",
    ),
    (
        11020,
        "cuArrayGetPlane cuDeviceGetDefaultMemPool cuDeviceGetMemPool cuDeviceSetMemPool \
         cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode \
         cuGraphExecExternalSemaphoresSignalNodeSetParams cuGraphExecExternalSemaphoresWaitNodeSetParams \
         cuGraphExternalSemaphoresSignalNodeGetParams cuGraphExternalSemaphoresSignalNodeSetParams \
         cuGraphExternalSemaphoresWaitNodeGetParams cuGraphExternalSemaphoresWaitNodeSetParams \
         cuMemAllocAsync cuMemAllocFromPoolAsync cuMemFreeAsync cuMemPoolCreate cuMemPoolDestroy \
         cuMemPoolExportPointer cuMemPoolExportToShareableHandle cuMemPoolGetAccess cuMemPoolGetAttribute \
         cuMemPoolImportFromShareableHandle cuMemPoolImportPointer cuMemPoolSetAccess cuMemPoolSetAttribute \
         cuMemPoolTrimTo",
    ),
    (
        11030,
        "cuFlushGPUDirectRDMAWrites cuGetProcAddress cuGraphDebugDotPrint cuGraphReleaseUserObject \
         cuGraphRetainUserObject cuStreamGetCaptureInfo_v2 cuStreamUpdateCaptureDependencies \
         cuUserObjectCreate cuUserObjectRelease cuUserObjectRetain",
    ),
    (
        11040,
        "cuCtxCreate_v3 cuCtxGetExecAffinity cuDeviceGetExecAffinitySupport cuDeviceGetGraphMemAttribute \
         cuDeviceGetUuid_v2 cuDeviceGraphMemTrim cuDeviceSetGraphMemAttribute cuGraphAddMemAllocNode \
         cuGraphAddMemFreeNode cuGraphInstantiateWithFlags cuGraphMemAllocNodeGetParams \
         cuGraphMemFreeNodeGetParams",
    ),
    (
        11060,
        "cuArrayGetMemoryRequirements cuGraphNodeGetEnabled cuGraphNodeSetEnabled cuLaunchKernelEx \
         cuMipmappedArrayGetMemoryRequirements",
    ),
    (
        11070,
        "cuGraphAddBatchMemOpNode cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams \
         cuGraphExecBatchMemOpNodeSetParams cuMemGetHandleForAddressRange cuModuleGetLoadingMode \
         cuOccupancyMaxActiveClusters cuOccupancyMaxPotentialClusterSize cuStreamBatchMemOp_v2 \
         cuStreamWaitValue32_v2 cuStreamWaitValue64_v2 cuStreamWriteValue32_v2 cuStreamWriteValue64_v2",
    ),
    (
        12000,
        "cuCtxGetId cuGetProcAddress_v2 cuGraphAddKernelNode_v2 cuGraphExecGetFlags \
         cuGraphExecKernelNodeSetParams_v2 cuGraphExecUpdate_v2 cuGraphInstantiateWithParams \
         cuGraphKernelNodeGetParams_v2 cuGraphKernelNodeSetParams_v2 cuKernelGetAttribute \
         cuKernelGetFunction cuKernelSetAttribute cuKernelSetCacheConfig cuLibraryGetGlobal \
         cuLibraryGetKernel cuLibraryGetManaged cuLibraryGetModule cuLibraryGetUnifiedFunction \
         cuLibraryLoadData cuLibraryLoadFromFile cuLibraryUnload cuStreamGetId cuTensorMapEncodeIm2col \
         cuTensorMapEncodeTiled cuTensorMapReplaceAddress",
    ),
    (
        12010,
        "cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal cuCoredumpSetAttribute \
         cuCoredumpSetAttributeGlobal cuCtxSetFlags cuMulticastAddDevice cuMulticastBindAddr \
         cuMulticastBindMem cuMulticastCreate cuMulticastGetGranularity cuMulticastUnbind",
    ),
    (12020, "cuGraphAddNode cuGraphExecNodeSetParams cuGraphNodeSetParams cuMemAdvise_v2 cuMemPrefetchAsync_v2"),
    (
        12030,
        "cuFuncGetName cuGraphAddDependencies_v2 cuGraphAddNode_v2 cuGraphConditionalHandleCreate \
         cuGraphGetEdges_v2 cuGraphNodeGetDependencies_v2 cuGraphNodeGetDependentNodes_v2 \
         cuGraphRemoveDependencies_v2 cuKernelGetName cuStreamBeginCaptureToGraph cuStreamGetCaptureInfo_v3 \
         cuStreamUpdateCaptureDependencies_v2",
    ),
    (
        12040,
        "cuCtxFromGreenCtx cuCtxGetDevResource cuDevResourceGenerateDesc cuDevSmResourceSplitByCount \
         cuDeviceGetDevResource cuDeviceRegisterAsyncNotification cuDeviceUnregisterAsyncNotification \
         cuFuncGetParamInfo cuFuncIsLoaded cuFuncLoad cuGreenCtxCreate cuGreenCtxDestroy \
         cuGreenCtxGetDevResource cuGreenCtxRecordEvent cuGreenCtxWaitEvent cuKernelGetParamInfo \
         cuLibraryEnumerateKernels cuLibraryGetKernelCount cuModuleEnumerateFunctions \
         cuModuleGetFunctionCount cuStreamGetGreenCtx",
    ),
    (
        12050,
        "cuCtxCreate_v4 cuCtxRecordEvent cuCtxWaitEvent cuGreenCtxStreamCreate cuKernelGetLibrary \
         cuStreamGetCtx_v2",
    ),
    (12060, "cuMemBatchDecompressAsync"),
    (
        12080,
        "cuCheckpointProcessCheckpoint cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessGetState \
         cuCheckpointProcessLock cuCheckpointProcessRestore cuCheckpointProcessUnlock cuEventElapsedTime_v2 \
         cuMemcpy3DBatchAsync cuMemcpyBatchAsync cuStreamGetDevice cuTensorMapEncodeIm2colWide",
    ),
    (
        12090,
        "cuGreenCtxGetId cuLogsCurrent cuLogsDumpToFile cuLogsDumpToMemory cuLogsRegisterCallback \
         cuLogsUnregisterCallback",
    ),
    (
        13000,
        "cuCtxGetDevice_v2 cuCtxSynchronize_v2 cuDeviceGetHostAtomicCapabilities \
         cuDeviceGetP2PAtomicCapabilities cuMemDiscardAndPrefetchBatchAsync cuMemDiscardBatchAsync \
         cuMemGetDefaultMemPool cuMemGetMemPool cuMemPrefetchBatchAsync cuMemSetMemPool \
         cuMemcpy3DBatchAsync_v2 cuMemcpyBatchAsync_v2",
    ),
    (
        13010,
        "cuDevSmResourceSplit cuGraphExecGetId cuGraphGetId cuGraphNodeGetContainingGraph \
         cuGraphNodeGetLocalId cuGraphNodeGetToolsId cuLaunchHostFunc_v2 cuMulticastBindAddr_v2 \
         cuMulticastBindMem_v2 cuStreamBeginCaptureToCig cuStreamEndCaptureToCig cuStreamGetDevResource",
    ),
    (
        13020,
        "cuCoredumpDeregisterCompleteCallback cuCoredumpDeregisterStartCallback \
         cuCoredumpRegisterCompleteCallback cuCoredumpRegisterStartCallback cuFuncGetParamCount \
         cuGraphNodeGetParams cuKernelGetParamCount cuMemcpy3DWithAttributesAsync \
         cuMemcpyWithAttributesAsync",
    ),
    (
        13030,
        "cuLogicalEndpointAddDevice cuLogicalEndpointBindAddr cuLogicalEndpointBindMem \
         cuLogicalEndpointCreate cuLogicalEndpointDestroy cuLogicalEndpointExport cuLogicalEndpointGetLimits \
         cuLogicalEndpointIdRelease cuLogicalEndpointIdReserve cuLogicalEndpointImport \
         cuLogicalEndpointQuery cuLogicalEndpointUnbind cuStreamBeginRecaptureToGraph",
    ),
    (
        13040,
        "cuCheckpointOperationComplete cuDeviceGetCliqueCount cuDeviceGetCliqueInfo \
         cuDeviceGetFabricClusterUuid cuGraphAddNode_v3 cuGraphNodeSetParams_v2 cuMemGetLocationInfo",
    ),
    (13050, "cuFabricCpyBatchAsync cuTensorMapSetAllocationClass"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(name: &str) -> Found {
        Found::Symbol(name.to_owned())
    }

    #[test]
    fn a_version_has_its_symbol() {
        assert_eq!(find("cuMemAlloc", 3000, false), symbol("cuMemAlloc"));
        assert_eq!(find("cuMemAlloc", 12000, false), symbol("cuMemAlloc_v2"));
        assert_eq!(find("cuCtxCreate", 11040, false), symbol("cuCtxCreate_v3"));
        assert_eq!(find("cuCtxCreate", 13000, false), symbol("cuCtxCreate_v4"));
        assert_eq!(find("cuCtxGetDevice", 12080, false), symbol("cuCtxGetDevice"));
        assert_eq!(find("cuMemcpyHtoD", 12000, true), symbol("cuMemcpyHtoD_v2_ptds"));
        assert_eq!(find("cuLaunchKernel", 12000, true), symbol("cuLaunchKernel_ptsz"));
        assert_eq!(find("cuMemAlloc", 12000, true), symbol("cuMemAlloc_v2"));
        assert_eq!(find("cuGreenCtxCreate", 12000, false), Found::Newer);
        assert_eq!(find("cuMem", 12000, false), Found::Nothing);
    }

    #[test]
    fn every_symbol_is_in_both_lists() {
        macro_rules! all {
            (
                functions { $($name:ident)* } ptsz { $($z:ident)* } ptds { $($d:ident)* } unsupported { $($no:ident)* }
            ) => {
                [$(stringify!($name),)* $(stringify!($no)),*]
            };
        }
        let all = crate::driver_functions!(all);
        let listed: Vec<&str> = SYMBOLS.iter().flat_map(|(_, symbols)| symbols.split(' ')).collect();
        for name in all.iter().filter(|name| !name.ends_with("_ptsz") && !name.ends_with("_ptds")) {
            assert!(listed.contains(name) || PROFILER.contains(name), "{name}");
        }
        for name in listed {
            assert!(all.contains(&name), "{name}");
        }
    }

    /// Names in cuda.h: those that are declared, and those that macros put in their place.
    fn declared(header: &str) -> Vec<String> {
        let is_name = |word: &&str| word.strip_prefix("cu").is_some_and(|rest| rest.starts_with(char::is_uppercase));
        let mut names = Vec::new();
        let mut rest = header;
        // Comments name functions as well.
        let mut code = String::new();
        while let Some((before, after)) = rest.split_once("/*") {
            code.push_str(before);
            rest = after.split_once("*/").map_or("", |(_, rest)| rest);
        }
        code.push_str(rest);
        for (at, _) in code.match_indices("CUDAAPI") {
            let word =
                code[at + "CUDAAPI".len()..].trim_start().split(|c: char| !c.is_alphanumeric() && c != '_').next();
            names.extend(word.filter(is_name).map(str::to_owned));
        }
        for line in code.lines().filter_map(|line| line.trim().strip_prefix("#define cu")) {
            let Some((_, meant)) = line.split_once(char::is_whitespace) else { continue };
            let meant = meant.trim();
            let (word, suffix) = match (meant.strip_prefix("__CUDA_API_PTSZ("), meant.strip_prefix("__CUDA_API_PTDS("))
            {
                (Some(word), _) => (word, "_ptsz"),
                (_, Some(word)) => (word, "_ptds"),
                _ => (meant, ""),
            };
            let word = word.trim_end_matches(')').trim();
            if is_name(&word) && word.chars().all(|c| c.is_alphanumeric() || c == '_') {
                names.push(word.to_owned());
                names.push(format!("{word}{suffix}"));
            }
        }
        names
    }

    #[test]
    #[allow(clippy::print_stdout, reason = "it says what it skips")]
    fn every_function_of_cuda_h_has_a_symbol() {
        let header = std::env::var_os("CUDA_BIN").map(|bin| std::path::Path::new(&bin).join("../include/cuda.h"));
        let Some(Ok(header)) = header.map(std::fs::read_to_string) else {
            println!("skipped: there is no cuda.h (CUDA_BIN)");
            return;
        };
        macro_rules! symbols {
            (
                functions { $($name:ident)* } ptsz { $($z:ident)* } ptds { $($d:ident)* } unsupported { $($no:ident)* }
            ) => {
                [
                    $(stringify!($name),)* $(concat!(stringify!($z), "_ptsz"),)* $(concat!(stringify!($d), "_ptds"),)*
                    $(stringify!($no)),*
                ]
            };
        }
        let symbols = crate::driver_functions!(symbols);
        let names = declared(&header);
        assert!(names.len() > 500, "{}", names.len());
        let missing: Vec<&String> = names.iter().filter(|name| !symbols.contains(&&***name)).collect();
        assert!(missing.is_empty(), "{missing:?}");
    }
}
