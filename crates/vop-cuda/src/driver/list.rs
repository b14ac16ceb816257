//! All symbols of the driver API: those of cuda.h of CUDA 13, and of its older versions.

/// Calls a macro with the names of all functions: those that have a definition; those of them that also have a symbol with the suffix
/// `_ptsz` or `_ptds`, whose default stream is the thread's own; and those that are not supported.
#[doc(hidden)]
#[macro_export]
macro_rules! driver_functions {
                ($($then:tt)*) => { $($then)*! { functions { cuArray3DCreate_v2 cuArray3DGetDescriptor_v2
                cuArrayCreate_v2 cuArrayDestroy cuArrayGetDescriptor_v2 cuArrayGetMemoryRequirements cuArrayGetPlane
                cuArrayGetSparseProperties cuCtxAttach cuCtxCreate cuCtxCreate_v2 cuCtxCreate_v3 cuCtxCreate_v4
                cuCtxDestroy cuCtxDestroy_v2 cuCtxDetach cuCtxDisablePeerAccess cuCtxEnablePeerAccess
                cuCtxGetApiVersion cuCtxGetCacheConfig cuCtxGetCurrent cuCtxGetDevice cuCtxGetDevice_v2 cuCtxGetFlags
                cuCtxGetId cuCtxGetLimit cuCtxGetSharedMemConfig cuCtxGetStreamPriorityRange cuCtxPopCurrent
                cuCtxPopCurrent_v2 cuCtxPushCurrent cuCtxPushCurrent_v2 cuCtxResetPersistingL2Cache
                cuCtxSetCacheConfig cuCtxSetCurrent cuCtxSetFlags cuCtxSetLimit cuCtxSetSharedMemConfig
                cuCtxSynchronize cuCtxSynchronize_v2 cuDeviceCanAccessPeer cuDeviceComputeCapability cuDeviceGet
                cuDeviceGetAttribute cuDeviceGetByPCIBusId cuDeviceGetCount cuDeviceGetDefaultMemPool
                cuDeviceGetGraphMemAttribute cuDeviceGetMemPool cuDeviceGetName cuDeviceGetP2PAttribute
                cuDeviceGetPCIBusId cuDeviceGetProperties cuDeviceGetTexture1DLinearMaxWidth cuDeviceGetUuid
                cuDeviceGetUuid_v2 cuDeviceGraphMemTrim cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRelease
                cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2
                cuDevicePrimaryCtxRetain cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxSetFlags_v2
                cuDeviceSetGraphMemAttribute cuDeviceSetMemPool cuDeviceTotalMem_v2 cuDriverGetVersion cuEventCreate
                cuEventDestroy cuEventDestroy_v2 cuEventElapsedTime cuEventElapsedTime_v2 cuEventQuery cuEventRecord
                cuEventRecordWithFlags cuEventSynchronize cuFuncGetAttribute cuFuncGetModule cuFuncGetName
                cuFuncGetParamCount cuFuncGetParamInfo cuFuncIsLoaded cuFuncLoad cuFuncSetAttribute
                cuFuncSetCacheConfig cuFuncSetSharedMemConfig cuGetErrorName cuGetErrorString cuGetExportTable
                cuGetProcAddress cuGetProcAddress_v2 cuGraphAddChildGraphNode cuGraphAddDependencies
                cuGraphAddDependencies_v2 cuGraphAddEmptyNode cuGraphAddEventRecordNode cuGraphAddEventWaitNode
                cuGraphAddHostNode cuGraphAddKernelNode cuGraphAddKernelNode_v2 cuGraphAddMemAllocNode
                cuGraphAddMemFreeNode cuGraphAddMemcpyNode cuGraphAddMemsetNode cuGraphAddNode cuGraphAddNode_v2
                cuGraphAddNode_v3 cuGraphChildGraphNodeGetGraph cuGraphClone cuGraphCreate cuGraphDebugDotPrint
                cuGraphDestroy cuGraphDestroyNode cuGraphEventRecordNodeGetEvent cuGraphEventRecordNodeSetEvent
                cuGraphEventWaitNodeGetEvent cuGraphEventWaitNodeSetEvent cuGraphExecChildGraphNodeSetParams
                cuGraphExecDestroy cuGraphExecEventRecordNodeSetEvent cuGraphExecEventWaitNodeSetEvent
                cuGraphExecGetFlags cuGraphExecGetId cuGraphExecHostNodeSetParams cuGraphExecKernelNodeSetParams
                cuGraphExecKernelNodeSetParams_v2 cuGraphExecMemcpyNodeSetParams cuGraphExecMemsetNodeSetParams
                cuGraphExecNodeSetParams cuGraphExecUpdate cuGraphExecUpdate_v2 cuGraphGetEdges cuGraphGetEdges_v2
                cuGraphGetId cuGraphGetNodes cuGraphGetRootNodes cuGraphHostNodeGetParams cuGraphHostNodeSetParams
                cuGraphInstantiate cuGraphInstantiateWithFlags cuGraphInstantiateWithParams cuGraphInstantiate_v2
                cuGraphKernelNodeCopyAttributes cuGraphKernelNodeGetAttribute cuGraphKernelNodeGetParams
                cuGraphKernelNodeGetParams_v2 cuGraphKernelNodeSetAttribute cuGraphKernelNodeSetParams
                cuGraphKernelNodeSetParams_v2 cuGraphLaunch cuGraphMemAllocNodeGetParams cuGraphMemFreeNodeGetParams
                cuGraphMemcpyNodeGetParams cuGraphMemcpyNodeSetParams cuGraphMemsetNodeGetParams
                cuGraphMemsetNodeSetParams cuGraphNodeFindInClone cuGraphNodeGetContainingGraph
                cuGraphNodeGetDependencies cuGraphNodeGetDependencies_v2 cuGraphNodeGetDependentNodes
                cuGraphNodeGetDependentNodes_v2 cuGraphNodeGetEnabled cuGraphNodeGetLocalId cuGraphNodeGetToolsId
                cuGraphNodeGetType cuGraphNodeSetEnabled cuGraphNodeSetParams cuGraphNodeSetParams_v2
                cuGraphReleaseUserObject cuGraphRemoveDependencies cuGraphRemoveDependencies_v2
                cuGraphRetainUserObject cuGraphUpload cuInit cuKernelGetAttribute cuKernelGetFunction
                cuKernelGetLibrary cuKernelGetName cuKernelGetParamCount cuKernelGetParamInfo cuKernelSetAttribute
                cuKernelSetCacheConfig cuLaunchCooperativeKernel cuLaunchHostFunc cuLaunchHostFunc_v2 cuLaunchKernel
                cuLaunchKernelEx cuLibraryEnumerateKernels cuLibraryGetGlobal cuLibraryGetKernel
                cuLibraryGetKernelCount cuLibraryGetManaged cuLibraryGetModule cuLibraryLoadData cuLibraryLoadFromFile
                cuLibraryUnload cuLinkAddData cuLinkAddData_v2 cuLinkAddFile cuLinkAddFile_v2 cuLinkComplete
                cuLinkCreate cuLinkCreate_v2 cuLinkDestroy cuMemAddressFree cuMemAddressReserve cuMemAdvise
                cuMemAdvise_v2 cuMemAllocAsync cuMemAllocFromPoolAsync cuMemAllocHost_v2 cuMemAllocManaged
                cuMemAllocPitch_v2 cuMemAlloc_v2 cuMemCreate cuMemDiscardAndPrefetchBatchAsync cuMemDiscardBatchAsync
                cuMemFreeAsync cuMemFreeHost cuMemFree_v2 cuMemGetAccess cuMemGetAddressRange_v2
                cuMemGetAllocationGranularity cuMemGetAllocationPropertiesFromHandle cuMemGetDefaultMemPool
                cuMemGetInfo_v2 cuMemGetMemPool cuMemHostAlloc cuMemHostGetDevicePointer_v2 cuMemHostGetFlags
                cuMemHostRegister cuMemHostRegister_v2 cuMemHostUnregister cuMemMap cuMemPoolCreate cuMemPoolDestroy
                cuMemPoolGetAccess cuMemPoolGetAttribute cuMemPoolSetAccess cuMemPoolSetAttribute cuMemPoolTrimTo
                cuMemPrefetchAsync cuMemPrefetchAsync_v2 cuMemPrefetchBatchAsync cuMemRangeGetAttribute
                cuMemRangeGetAttributes cuMemRelease cuMemRetainAllocationHandle cuMemSetAccess cuMemSetMemPool
                cuMemUnmap cuMemcpy cuMemcpy2DAsync_v2 cuMemcpy2DUnaligned_v2 cuMemcpy2D_v2 cuMemcpy3DAsync_v2
                cuMemcpy3DPeer cuMemcpy3DPeerAsync cuMemcpy3D_v2 cuMemcpyAsync cuMemcpyAtoA_v2 cuMemcpyAtoD_v2
                cuMemcpyAtoHAsync_v2 cuMemcpyAtoH_v2 cuMemcpyBatchAsync cuMemcpyBatchAsync_v2 cuMemcpyDtoA_v2
                cuMemcpyDtoDAsync_v2 cuMemcpyDtoD_v2 cuMemcpyDtoHAsync_v2 cuMemcpyDtoH_v2 cuMemcpyHtoAAsync_v2
                cuMemcpyHtoA_v2 cuMemcpyHtoDAsync_v2 cuMemcpyHtoD_v2 cuMemcpyPeer cuMemcpyPeerAsync
                cuMemcpyWithAttributesAsync cuMemsetD16Async cuMemsetD16_v2 cuMemsetD2D16Async cuMemsetD2D16_v2
                cuMemsetD2D32Async cuMemsetD2D32_v2 cuMemsetD2D8Async cuMemsetD2D8_v2 cuMemsetD32Async cuMemsetD32_v2
                cuMemsetD8Async cuMemsetD8_v2 cuMipmappedArrayCreate cuMipmappedArrayDestroy cuMipmappedArrayGetLevel
                cuMipmappedArrayGetMemoryRequirements cuMipmappedArrayGetSparseProperties cuModuleEnumerateFunctions
                cuModuleGetFunction cuModuleGetFunctionCount cuModuleGetGlobal_v2 cuModuleGetLoadingMode
                cuModuleGetSurfRef cuModuleGetTexRef cuModuleLoad cuModuleLoadData cuModuleLoadDataEx
                cuModuleLoadFatBinary cuModuleUnload cuOccupancyAvailableDynamicSMemPerBlock
                cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
                cuOccupancyMaxActiveClusters cuOccupancyMaxPotentialBlockSize
                cuOccupancyMaxPotentialBlockSizeWithFlags cuOccupancyMaxPotentialClusterSize cuPointerGetAttribute
                cuPointerGetAttributes cuPointerSetAttribute cuProfilerStart cuProfilerStop cuStreamAddCallback
                cuStreamAttachMemAsync cuStreamBatchMemOp cuStreamBatchMemOp_v2 cuStreamBeginCapture
                cuStreamBeginCaptureToGraph cuStreamBeginCapture_v2 cuStreamCopyAttributes cuStreamCreate
                cuStreamCreateWithPriority cuStreamDestroy cuStreamDestroy_v2 cuStreamEndCapture cuStreamGetAttribute
                cuStreamGetCaptureInfo cuStreamGetCaptureInfo_v2 cuStreamGetCaptureInfo_v3 cuStreamGetCtx
                cuStreamGetCtx_v2 cuStreamGetDevice cuStreamGetFlags cuStreamGetId cuStreamGetPriority
                cuStreamIsCapturing cuStreamQuery cuStreamSetAttribute cuStreamSynchronize
                cuStreamUpdateCaptureDependencies cuStreamUpdateCaptureDependencies_v2 cuStreamWaitEvent
                cuStreamWaitValue32 cuStreamWaitValue32_v2 cuStreamWaitValue64 cuStreamWaitValue64_v2
                cuStreamWriteValue32 cuStreamWriteValue32_v2 cuStreamWriteValue64 cuStreamWriteValue64_v2
                cuSurfObjectCreate cuSurfObjectDestroy cuSurfObjectGetResourceDesc cuSurfRefGetArray cuSurfRefSetArray
                cuTexObjectCreate cuTexObjectDestroy cuTexObjectGetResourceDesc cuTexObjectGetResourceViewDesc
                cuTexObjectGetTextureDesc cuTexRefGetAddressMode cuTexRefGetAddress_v2 cuTexRefGetArray
                cuTexRefGetFilterMode cuTexRefGetFlags cuTexRefGetFormat cuTexRefSetAddress2D_v3
                cuTexRefSetAddressMode cuTexRefSetAddress_v2 cuTexRefSetArray cuTexRefSetBorderColor
                cuTexRefSetFilterMode cuTexRefSetFlags cuTexRefSetFormat cuTexRefSetMaxAnisotropy
                cuTexRefSetMipmapFilterMode cuTexRefSetMipmapLevelBias cuTexRefSetMipmapLevelClamp
                cuTexRefSetMipmappedArray cuThreadExchangeStreamCaptureMode cuUserObjectCreate cuUserObjectRelease
                cuUserObjectRetain
            }
            ptsz {
                cuEventRecord cuEventRecordWithFlags cuGetProcAddress_v2 cuGraphInstantiateWithParams cuGraphLaunch
                cuGraphUpload cuLaunchCooperativeKernel cuLaunchHostFunc cuLaunchHostFunc_v2 cuLaunchKernel
                cuLaunchKernelEx cuMemAllocAsync cuMemAllocFromPoolAsync cuMemDiscardAndPrefetchBatchAsync
                cuMemDiscardBatchAsync cuMemFreeAsync cuMemPrefetchAsync cuMemPrefetchAsync_v2
                cuMemPrefetchBatchAsync cuMemcpy2DAsync_v2 cuMemcpy3DAsync_v2 cuMemcpy3DPeerAsync cuMemcpyAsync
                cuMemcpyAtoHAsync_v2 cuMemcpyBatchAsync cuMemcpyBatchAsync_v2 cuMemcpyDtoDAsync_v2
                cuMemcpyDtoHAsync_v2 cuMemcpyHtoAAsync_v2 cuMemcpyHtoDAsync_v2 cuMemcpyPeerAsync
                cuMemcpyWithAttributesAsync cuMemsetD16Async cuMemsetD2D16Async cuMemsetD2D32Async cuMemsetD2D8Async
                cuMemsetD32Async cuMemsetD8Async cuStreamAddCallback cuStreamAttachMemAsync cuStreamBatchMemOp
                cuStreamBatchMemOp_v2 cuStreamBeginCapture cuStreamBeginCaptureToGraph cuStreamBeginCapture_v2
                cuStreamCopyAttributes cuStreamEndCapture cuStreamGetAttribute cuStreamGetCaptureInfo
                cuStreamGetCaptureInfo_v2 cuStreamGetCaptureInfo_v3 cuStreamGetCtx cuStreamGetCtx_v2
                cuStreamGetDevice cuStreamGetFlags cuStreamGetId cuStreamGetPriority cuStreamIsCapturing
                cuStreamQuery cuStreamSetAttribute cuStreamSynchronize cuStreamUpdateCaptureDependencies
                cuStreamUpdateCaptureDependencies_v2 cuStreamWaitEvent cuStreamWaitValue32 cuStreamWaitValue32_v2
                cuStreamWaitValue64 cuStreamWaitValue64_v2 cuStreamWriteValue32 cuStreamWriteValue32_v2
                cuStreamWriteValue64 cuStreamWriteValue64_v2
            }
            ptds {
                cuMemcpy cuMemcpy2DUnaligned_v2 cuMemcpy2D_v2 cuMemcpy3DPeer cuMemcpy3D_v2 cuMemcpyAtoA_v2
                cuMemcpyAtoD_v2 cuMemcpyAtoH_v2 cuMemcpyDtoA_v2 cuMemcpyDtoD_v2 cuMemcpyDtoH_v2 cuMemcpyHtoA_v2
                cuMemcpyHtoD_v2 cuMemcpyPeer cuMemsetD16_v2 cuMemsetD2D16_v2 cuMemsetD2D32_v2 cuMemsetD2D8_v2
                cuMemsetD32_v2 cuMemsetD8_v2
            }
            unsupported {
                cuArray3DCreate cuArray3DGetDescriptor cuArrayCreate cuArrayGetDescriptor
                cuCheckpointOperationComplete cuCheckpointProcessCheckpoint cuCheckpointProcessGetRestoreThreadId
                cuCheckpointProcessGetState cuCheckpointProcessLock cuCheckpointProcessRestore
                cuCheckpointProcessUnlock cuCoredumpDeregisterCompleteCallback cuCoredumpDeregisterStartCallback
                cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal cuCoredumpRegisterCompleteCallback
                cuCoredumpRegisterStartCallback cuCoredumpSetAttribute cuCoredumpSetAttributeGlobal cuCtxFromGreenCtx
                cuCtxGetDevResource cuCtxGetExecAffinity cuCtxRecordEvent cuCtxWaitEvent cuDestroyExternalMemory
                cuDestroyExternalSemaphore cuDevResourceGenerateDesc cuDevSmResourceSplit cuDevSmResourceSplitByCount
                cuDeviceGetCliqueCount cuDeviceGetCliqueInfo cuDeviceGetDevResource cuDeviceGetExecAffinitySupport
                cuDeviceGetFabricClusterUuid cuDeviceGetHostAtomicCapabilities cuDeviceGetLuid
                cuDeviceGetNvSciSyncAttributes cuDeviceGetP2PAtomicCapabilities cuDeviceRegisterAsyncNotification
                cuDeviceTotalMem cuDeviceUnregisterAsyncNotification cuExternalMemoryGetMappedBuffer
                cuExternalMemoryGetMappedMipmappedArray cuFabricCpyBatchAsync cuFabricCpyBatchAsync_ptsz
                cuFlushGPUDirectRDMAWrites cuFuncSetBlockShape cuFuncSetSharedSize cuGraphAddBatchMemOpNode
                cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode
                cuGraphBatchMemOpNodeGetParams cuGraphBatchMemOpNodeSetParams cuGraphConditionalHandleCreate
                cuGraphExecBatchMemOpNodeSetParams cuGraphExecExternalSemaphoresSignalNodeSetParams
                cuGraphExecExternalSemaphoresWaitNodeSetParams cuGraphExternalSemaphoresSignalNodeGetParams
                cuGraphExternalSemaphoresSignalNodeSetParams cuGraphExternalSemaphoresWaitNodeGetParams
                cuGraphExternalSemaphoresWaitNodeSetParams cuGraphNodeGetParams cuGraphicsMapResources
                cuGraphicsMapResources_ptsz cuGraphicsResourceGetMappedMipmappedArray
                cuGraphicsResourceGetMappedPointer cuGraphicsResourceGetMappedPointer_v2 cuGraphicsResourceSetMapFlags
                cuGraphicsResourceSetMapFlags_v2 cuGraphicsSubResourceGetMappedArray cuGraphicsUnmapResources
                cuGraphicsUnmapResources_ptsz cuGraphicsUnregisterResource cuGreenCtxCreate cuGreenCtxDestroy
                cuGreenCtxGetDevResource cuGreenCtxGetId cuGreenCtxRecordEvent cuGreenCtxStreamCreate
                cuGreenCtxWaitEvent cuImportExternalMemory cuImportExternalSemaphore cuIpcCloseMemHandle
                cuIpcGetEventHandle cuIpcGetMemHandle cuIpcOpenEventHandle cuIpcOpenMemHandle cuIpcOpenMemHandle_v2
                cuLaunch cuLaunchCooperativeKernelMultiDevice cuLaunchGrid cuLaunchGridAsync
                cuLibraryGetUnifiedFunction cuLogicalEndpointAddDevice cuLogicalEndpointBindAddr
                cuLogicalEndpointBindMem cuLogicalEndpointCreate cuLogicalEndpointDestroy cuLogicalEndpointExport
                cuLogicalEndpointGetLimits cuLogicalEndpointIdRelease cuLogicalEndpointIdReserve
                cuLogicalEndpointImport cuLogicalEndpointQuery cuLogicalEndpointUnbind cuLogsCurrent cuLogsDumpToFile
                cuLogsDumpToMemory cuLogsRegisterCallback cuLogsUnregisterCallback cuMemAlloc cuMemAllocHost
                cuMemAllocPitch cuMemBatchDecompressAsync cuMemBatchDecompressAsync_ptsz cuMemExportToShareableHandle
                cuMemFree cuMemGetAddressRange cuMemGetHandleForAddressRange cuMemGetInfo cuMemGetLocationInfo
                cuMemHostGetDevicePointer cuMemImportFromShareableHandle cuMemMapArrayAsync cuMemMapArrayAsync_ptsz
                cuMemPoolExportPointer cuMemPoolExportToShareableHandle cuMemPoolImportFromShareableHandle
                cuMemPoolImportPointer cuMemcpy2D cuMemcpy2DAsync cuMemcpy2DUnaligned cuMemcpy3D cuMemcpy3DAsync
                cuMemcpy3DBatchAsync cuMemcpy3DBatchAsync_ptsz cuMemcpy3DBatchAsync_v2 cuMemcpy3DBatchAsync_v2_ptsz
                cuMemcpy3DWithAttributesAsync cuMemcpy3DWithAttributesAsync_ptsz cuMemcpyAtoA cuMemcpyAtoD
                cuMemcpyAtoH cuMemcpyAtoHAsync cuMemcpyDtoA cuMemcpyDtoD cuMemcpyDtoDAsync cuMemcpyDtoH
                cuMemcpyDtoHAsync cuMemcpyHtoA cuMemcpyHtoAAsync cuMemcpyHtoD cuMemcpyHtoDAsync cuMemsetD16
                cuMemsetD2D16 cuMemsetD2D32 cuMemsetD2D8 cuMemsetD32 cuMemsetD8 cuModuleGetGlobal cuMulticastAddDevice
                cuMulticastBindAddr cuMulticastBindAddr_v2 cuMulticastBindMem cuMulticastBindMem_v2 cuMulticastCreate
                cuMulticastGetGranularity cuMulticastUnbind cuParamSetSize cuParamSetTexRef cuParamSetf cuParamSeti
                cuParamSetv cuSignalExternalSemaphoresAsync cuSignalExternalSemaphoresAsync_ptsz
                cuStreamBeginCaptureToCig cuStreamBeginCaptureToCig_ptsz cuStreamBeginRecaptureToGraph
                cuStreamBeginRecaptureToGraph_ptsz cuStreamEndCaptureToCig cuStreamEndCaptureToCig_ptsz
                cuStreamGetDevResource cuStreamGetDevResource_ptsz cuStreamGetGreenCtx cuTensorMapEncodeIm2col
                cuTensorMapEncodeIm2colWide cuTensorMapEncodeTiled cuTensorMapReplaceAddress
                cuTensorMapSetAllocationClass cuTexRefCreate cuTexRefDestroy cuTexRefGetAddress cuTexRefGetBorderColor
                cuTexRefGetMaxAnisotropy cuTexRefGetMipmapFilterMode cuTexRefGetMipmapLevelBias
                cuTexRefGetMipmapLevelClamp cuTexRefGetMipmappedArray cuTexRefSetAddress cuTexRefSetAddress2D
                cuTexRefSetAddress2D_v2 cuWaitExternalSemaphoresAsync cuWaitExternalSemaphoresAsync_ptsz
            }
        }
    };
}
