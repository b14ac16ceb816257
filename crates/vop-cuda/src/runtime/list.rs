//! All symbols of the runtime API.

/// Calls a macro with the names of all functions, in these lists:
///
/// - those that both versions have; those of them that also have a symbol with the suffix `_ptsz` or `_ptds`, whose default stream is the
///   thread's own;
/// - those of version 13 that version 12 does not have, or has with other parameters; those of version 12 (`symbol = function`), which
///   version 13 does not have or has with other parameters;
/// - those that are not supported, of both versions, of version 13 and of version 12.
#[doc(hidden)]
#[macro_export]
macro_rules! runtime_functions {
    ($($then:tt)*) => {
        $($then)*! {
            both {
                __cudaGetKernel __cudaInitModule __cudaLaunchKernel __cudaPopCallConfiguration
                __cudaPushCallConfiguration __cudaRegisterFatBinary __cudaRegisterFatBinaryEnd __cudaRegisterFunction
                __cudaRegisterManagedVar __cudaRegisterVar __cudaUnregisterFatBinary cudaArrayGetInfo
                cudaArrayGetMemoryRequirements cudaArrayGetPlane cudaChooseDevice cudaCreateChannelDesc
                cudaCreateSurfaceObject cudaCreateTextureObject cudaCtxResetPersistingL2Cache
                cudaDestroySurfaceObject cudaDestroyTextureObject cudaDeviceCanAccessPeer cudaDeviceDisablePeerAccess
                cudaDeviceEnablePeerAccess cudaDeviceGetAttribute cudaDeviceGetByPCIBusId cudaDeviceGetCacheConfig
                cudaDeviceGetDefaultMemPool cudaDeviceGetGraphMemAttribute cudaDeviceGetLimit cudaDeviceGetMemPool
                cudaDeviceGetP2PAttribute cudaDeviceGetPCIBusId cudaDeviceGetSharedMemConfig
                cudaDeviceGetStreamPriorityRange cudaDeviceGetTexture1DLinearMaxWidth cudaDeviceGraphMemTrim
                cudaDeviceReset cudaDeviceSetCacheConfig cudaDeviceSetGraphMemAttribute cudaDeviceSetLimit
                cudaDeviceSetMemPool cudaDeviceSetSharedMemConfig cudaDeviceSynchronize cudaDriverGetVersion
                cudaEventCreate cudaEventCreateWithFlags cudaEventDestroy cudaEventElapsedTime cudaEventQuery
                cudaEventRecord cudaEventRecordWithFlags cudaEventSynchronize cudaFree cudaFreeArray cudaFreeAsync
                cudaFreeHost cudaFreeMipmappedArray cudaFuncGetAttributes cudaFuncGetName cudaFuncGetParamInfo
                cudaFuncSetAttribute cudaFuncSetCacheConfig cudaFuncSetSharedMemConfig cudaGetChannelDesc
                cudaGetDevice cudaGetDeviceCount cudaGetDeviceFlags cudaGetDriverEntryPoint
                cudaGetDriverEntryPointByVersion cudaGetErrorName cudaGetErrorString cudaGetExportTable
                cudaGetFuncBySymbol cudaGetKernel cudaGetLastError cudaGetMipmappedArrayLevel
                cudaGetSurfaceObjectResourceDesc cudaGetSymbolAddress cudaGetSymbolSize
                cudaGetTextureObjectResourceDesc cudaGetTextureObjectResourceViewDesc cudaGetTextureObjectTextureDesc
                cudaGraphAddChildGraphNode cudaGraphAddEmptyNode cudaGraphAddEventRecordNode
                cudaGraphAddEventWaitNode cudaGraphAddHostNode cudaGraphAddKernelNode cudaGraphAddMemAllocNode
                cudaGraphAddMemFreeNode cudaGraphAddMemcpyNode cudaGraphAddMemcpyNode1D
                cudaGraphAddMemcpyNodeFromSymbol cudaGraphAddMemcpyNodeToSymbol cudaGraphAddMemsetNode
                cudaGraphChildGraphNodeGetGraph cudaGraphClone cudaGraphCreate cudaGraphDebugDotPrint
                cudaGraphDestroy cudaGraphDestroyNode cudaGraphEventRecordNodeGetEvent
                cudaGraphEventRecordNodeSetEvent cudaGraphEventWaitNodeGetEvent cudaGraphEventWaitNodeSetEvent
                cudaGraphExecChildGraphNodeSetParams cudaGraphExecDestroy cudaGraphExecEventRecordNodeSetEvent
                cudaGraphExecEventWaitNodeSetEvent cudaGraphExecGetFlags cudaGraphExecHostNodeSetParams
                cudaGraphExecKernelNodeSetParams cudaGraphExecMemcpyNodeSetParams cudaGraphExecMemcpyNodeSetParams1D
                cudaGraphExecMemcpyNodeSetParamsFromSymbol cudaGraphExecMemcpyNodeSetParamsToSymbol
                cudaGraphExecMemsetNodeSetParams cudaGraphExecUpdate cudaGraphGetNodes cudaGraphGetRootNodes
                cudaGraphHostNodeGetParams cudaGraphHostNodeSetParams cudaGraphInstantiate
                cudaGraphInstantiateWithFlags cudaGraphInstantiateWithParams cudaGraphKernelNodeCopyAttributes
                cudaGraphKernelNodeGetAttribute cudaGraphKernelNodeGetParams cudaGraphKernelNodeSetAttribute
                cudaGraphKernelNodeSetParams cudaGraphLaunch cudaGraphMemAllocNodeGetParams
                cudaGraphMemFreeNodeGetParams cudaGraphMemcpyNodeGetParams cudaGraphMemcpyNodeSetParams
                cudaGraphMemcpyNodeSetParams1D cudaGraphMemcpyNodeSetParamsFromSymbol
                cudaGraphMemcpyNodeSetParamsToSymbol cudaGraphMemsetNodeGetParams cudaGraphMemsetNodeSetParams
                cudaGraphNodeFindInClone cudaGraphNodeGetEnabled cudaGraphNodeGetType cudaGraphNodeSetEnabled
                cudaGraphReleaseUserObject cudaGraphRetainUserObject cudaGraphUpload cudaHostAlloc
                cudaHostGetDevicePointer cudaHostGetFlags cudaHostRegister cudaHostUnregister cudaInitDevice
                cudaKernelSetAttributeForDevice cudaLaunchCooperativeKernel cudaLaunchHostFunc cudaLaunchKernel
                cudaLaunchKernelExC cudaLibraryEnumerateKernels cudaLibraryGetGlobal cudaLibraryGetKernel
                cudaLibraryGetKernelCount cudaLibraryGetManaged cudaLibraryLoadData cudaLibraryLoadFromFile
                cudaLibraryUnload cudaMalloc cudaMalloc3D cudaMalloc3DArray cudaMallocArray cudaMallocAsync
                cudaMallocFromPoolAsync cudaMallocHost cudaMallocManaged cudaMallocMipmappedArray cudaMallocPitch
                cudaMemGetInfo cudaMemPoolCreate cudaMemPoolDestroy cudaMemPoolGetAccess cudaMemPoolGetAttribute
                cudaMemPoolSetAccess cudaMemPoolSetAttribute cudaMemPoolTrimTo cudaMemRangeGetAttribute
                cudaMemRangeGetAttributes cudaMemcpy cudaMemcpy2D cudaMemcpy2DArrayToArray cudaMemcpy2DAsync
                cudaMemcpy2DFromArray cudaMemcpy2DFromArrayAsync cudaMemcpy2DToArray cudaMemcpy2DToArrayAsync
                cudaMemcpy3D cudaMemcpy3DAsync cudaMemcpy3DPeer cudaMemcpy3DPeerAsync cudaMemcpyArrayToArray
                cudaMemcpyAsync cudaMemcpyFromArray cudaMemcpyFromArrayAsync cudaMemcpyFromSymbol
                cudaMemcpyFromSymbolAsync cudaMemcpyPeer cudaMemcpyPeerAsync cudaMemcpyToArray cudaMemcpyToArrayAsync
                cudaMemcpyToSymbol cudaMemcpyToSymbolAsync cudaMemset cudaMemset2D cudaMemset2DAsync cudaMemset3D
                cudaMemset3DAsync cudaMemsetAsync cudaOccupancyAvailableDynamicSMemPerBlock
                cudaOccupancyMaxActiveBlocksPerMultiprocessor cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags
                cudaOccupancyMaxActiveClusters cudaOccupancyMaxPotentialClusterSize cudaPeekAtLastError
                cudaProfilerStart cudaProfilerStop cudaSetDevice cudaSetDeviceFlags cudaSetValidDevices
                cudaStreamAddCallback cudaStreamAttachMemAsync cudaStreamBeginCapture cudaStreamBeginCaptureToGraph
                cudaStreamCopyAttributes cudaStreamCreate cudaStreamCreateWithFlags cudaStreamCreateWithPriority
                cudaStreamDestroy cudaStreamEndCapture cudaStreamGetAttribute cudaStreamGetDevice cudaStreamGetFlags
                cudaStreamGetId cudaStreamGetPriority cudaStreamIsCapturing cudaStreamQuery cudaStreamSetAttribute
                cudaStreamSynchronize cudaStreamWaitEvent cudaThreadExchangeStreamCaptureMode cudaUserObjectCreate
                cudaUserObjectRelease cudaUserObjectRetain
            }
            both_ptsz {
                __cudaLaunchKernel cudaEventRecord cudaEventRecordWithFlags cudaFreeAsync cudaGetDriverEntryPoint
                cudaGetDriverEntryPointByVersion cudaGraphInstantiateWithParams cudaGraphLaunch cudaGraphUpload
                cudaLaunchCooperativeKernel cudaLaunchHostFunc cudaLaunchKernel cudaLaunchKernelExC cudaMallocAsync
                cudaMallocFromPoolAsync cudaMemcpy2DAsync cudaMemcpy2DFromArrayAsync cudaMemcpy2DToArrayAsync
                cudaMemcpy3DAsync cudaMemcpy3DPeerAsync cudaMemcpyAsync cudaMemcpyFromArrayAsync
                cudaMemcpyFromSymbolAsync cudaMemcpyToArrayAsync cudaMemcpyToSymbolAsync cudaMemset2DAsync
                cudaMemset3DAsync cudaMemsetAsync cudaStreamAddCallback cudaStreamAttachMemAsync
                cudaStreamBeginCapture cudaStreamBeginCaptureToGraph cudaStreamCopyAttributes cudaStreamEndCapture
                cudaStreamGetAttribute cudaStreamGetDevice cudaStreamGetFlags cudaStreamGetId cudaStreamGetPriority
                cudaStreamIsCapturing cudaStreamQuery cudaStreamSetAttribute cudaStreamSynchronize
                cudaStreamWaitEvent
            }
            both_ptds {
                cudaMemcpy cudaMemcpy2D cudaMemcpy2DArrayToArray cudaMemcpy2DFromArray cudaMemcpy2DToArray
                cudaMemcpy3D cudaMemcpy3DPeer cudaMemcpyArrayToArray cudaMemcpyFromArray cudaMemcpyFromSymbol
                cudaMemcpyToArray cudaMemcpyToSymbol cudaMemset cudaMemset2D cudaMemset3D
            }
            only_13 {
                cudaFuncGetParamCount cudaGetDeviceProperties cudaGraphAddDependencies cudaGraphAddNode
                cudaGraphGetEdges cudaGraphNodeGetDependencies cudaGraphNodeGetDependentNodes
                cudaGraphRemoveDependencies cudaLaunchHostFunc_v2 cudaMemAdvise cudaMemPrefetchAsync
                cudaPointerGetAttributes cudaRuntimeGetVersion cudaStreamGetCaptureInfo
                cudaStreamUpdateCaptureDependencies
            }
            only_13_ptsz {
                cudaLaunchHostFunc_v2 cudaMemPrefetchAsync cudaStreamGetCaptureInfo
                cudaStreamUpdateCaptureDependencies
            }
            only_12 {
                cudaEventElapsedTime_v2 = cudaEventElapsedTime,
                cudaGetDeviceProperties = cudaGetDeviceProperties_v1,
                cudaGetDeviceProperties_v2 = cudaGetDeviceProperties_v2,
                cudaGraphAddDependencies = cudaGraphAddDependencies_v1,
                cudaGraphAddDependencies_v2 = cudaGraphAddDependencies,
                cudaGraphAddNode = cudaGraphAddNode_v1,
                cudaGraphAddNode_v2 = cudaGraphAddNode,
                cudaGraphGetEdges = cudaGraphGetEdges_v1,
                cudaGraphGetEdges_v2 = cudaGraphGetEdges,
                cudaGraphNodeGetDependencies = cudaGraphNodeGetDependencies_v1,
                cudaGraphNodeGetDependencies_v2 = cudaGraphNodeGetDependencies,
                cudaGraphNodeGetDependentNodes = cudaGraphNodeGetDependentNodes_v1,
                cudaGraphNodeGetDependentNodes_v2 = cudaGraphNodeGetDependentNodes,
                cudaGraphRemoveDependencies = cudaGraphRemoveDependencies_v1,
                cudaGraphRemoveDependencies_v2 = cudaGraphRemoveDependencies,
                cudaMemAdvise = cudaMemAdvise_v1,
                cudaMemAdvise_v2 = cudaMemAdvise,
                cudaMemPrefetchAsync = cudaMemPrefetchAsync_v1,
                cudaMemPrefetchAsync_v2 = cudaMemPrefetchAsync,
                cudaPointerGetAttributes = cudaPointerGetAttributes_v1,
                cudaRuntimeGetVersion = cudaRuntimeGetVersion_12,
                cudaStreamGetCaptureInfo = cudaStreamGetCaptureInfo_v1,
                cudaStreamGetCaptureInfo_v2 = cudaStreamGetCaptureInfo_v2,
                cudaStreamGetCaptureInfo_v3 = cudaStreamGetCaptureInfo,
                cudaStreamUpdateCaptureDependencies = cudaStreamUpdateCaptureDependencies_v1,
                cudaStreamUpdateCaptureDependencies_v2 = cudaStreamUpdateCaptureDependencies,
                cudaThreadExit = cudaThreadExit,
                cudaThreadGetCacheConfig = cudaDeviceGetCacheConfig,
                cudaThreadGetLimit = cudaDeviceGetLimit,
                cudaThreadSetCacheConfig = cudaDeviceSetCacheConfig,
                cudaThreadSetLimit = cudaDeviceSetLimit,
                cudaThreadSynchronize = cudaThreadSynchronize,
            }
            only_12_ptsz {
                cudaMemPrefetchAsync = cudaMemPrefetchAsync_v1,
                cudaMemPrefetchAsync_v2 = cudaMemPrefetchAsync,
                cudaStreamGetCaptureInfo = cudaStreamGetCaptureInfo_v1,
                cudaStreamGetCaptureInfo_v2 = cudaStreamGetCaptureInfo_v2,
                cudaStreamGetCaptureInfo_v3 = cudaStreamGetCaptureInfo,
                cudaStreamUpdateCaptureDependencies = cudaStreamUpdateCaptureDependencies_v1,
                cudaStreamUpdateCaptureDependencies_v2 = cudaStreamUpdateCaptureDependencies,
            }
            no {
                __cudaRegisterHostVar __cudaRegisterUnifiedTable cudaArrayGetSparseProperties
                cudaDestroyExternalMemory cudaDestroyExternalSemaphore cudaDeviceFlushGPUDirectRDMAWrites
                cudaDeviceGetNvSciSyncAttributes cudaDeviceRegisterAsyncNotification
                cudaDeviceUnregisterAsyncNotification cudaEGLStreamConsumerAcquireFrame cudaEGLStreamConsumerConnect
                cudaEGLStreamConsumerConnectWithFlags cudaEGLStreamConsumerDisconnect
                cudaEGLStreamConsumerReleaseFrame cudaEGLStreamProducerConnect cudaEGLStreamProducerDisconnect
                cudaEGLStreamProducerPresentFrame cudaEGLStreamProducerReturnFrame cudaEventCreateFromEGLSync
                cudaExternalMemoryGetMappedBuffer cudaExternalMemoryGetMappedMipmappedArray cudaGLGetDevices
                cudaGLMapBufferObject cudaGLMapBufferObjectAsync cudaGLRegisterBufferObject
                cudaGLSetBufferObjectMapFlags cudaGLSetGLDevice cudaGLUnmapBufferObject cudaGLUnmapBufferObjectAsync
                cudaGLUnregisterBufferObject cudaGraphAddExternalSemaphoresSignalNode
                cudaGraphAddExternalSemaphoresWaitNode cudaGraphConditionalHandleCreate
                cudaGraphExecExternalSemaphoresSignalNodeSetParams cudaGraphExecExternalSemaphoresWaitNodeSetParams
                cudaGraphExecNodeSetParams cudaGraphExternalSemaphoresSignalNodeGetParams
                cudaGraphExternalSemaphoresSignalNodeSetParams cudaGraphExternalSemaphoresWaitNodeGetParams
                cudaGraphExternalSemaphoresWaitNodeSetParams cudaGraphNodeSetParams cudaGraphicsEGLRegisterImage
                cudaGraphicsGLRegisterBuffer cudaGraphicsGLRegisterImage cudaGraphicsMapResources
                cudaGraphicsResourceGetMappedEglFrame cudaGraphicsResourceGetMappedMipmappedArray
                cudaGraphicsResourceGetMappedPointer cudaGraphicsResourceSetMapFlags
                cudaGraphicsSubResourceGetMappedArray cudaGraphicsUnmapResources cudaGraphicsUnregisterResource
                cudaGraphicsVDPAURegisterOutputSurface cudaGraphicsVDPAURegisterVideoSurface cudaImportExternalMemory
                cudaImportExternalSemaphore cudaIpcCloseMemHandle cudaIpcGetEventHandle cudaIpcGetMemHandle
                cudaIpcOpenEventHandle cudaIpcOpenMemHandle cudaLibraryGetUnifiedFunction cudaMemPoolExportPointer
                cudaMemPoolExportToShareableHandle cudaMemPoolImportFromShareableHandle cudaMemPoolImportPointer
                cudaMemcpy3DBatchAsync cudaMemcpyBatchAsync cudaMipmappedArrayGetMemoryRequirements
                cudaMipmappedArrayGetSparseProperties cudaSignalExternalSemaphoresAsync cudaVDPAUGetDevice
                cudaVDPAUSetVDPAUDevice cudaWaitExternalSemaphoresAsync cudaMemcpy3DBatchAsync_ptsz
                cudaMemcpyBatchAsync_ptsz cudaSignalExternalSemaphoresAsync_ptsz cudaWaitExternalSemaphoresAsync_ptsz
            }
            no_13 {
                __cudaGetProcAddress cudaDevResourceGenerateDesc cudaDevSmResourceSplit cudaDevSmResourceSplitByCount
                cudaDeviceGetDevResource cudaDeviceGetExecutionCtx cudaDeviceGetHostAtomicCapabilities
                cudaDeviceGetP2PAtomicCapabilities cudaExecutionCtxDestroy cudaExecutionCtxGetDevResource
                cudaExecutionCtxGetDevice cudaExecutionCtxGetId cudaExecutionCtxRecordEvent
                cudaExecutionCtxStreamCreate cudaExecutionCtxSynchronize cudaExecutionCtxWaitEvent
                cudaGraphConditionalHandleCreate_v2 cudaGraphExecGetId cudaGraphGetId cudaGraphNodeGetContainingGraph
                cudaGraphNodeGetLocalId cudaGraphNodeGetParams cudaGraphNodeGetToolsId cudaGreenCtxCreate
                cudaLogsCurrent cudaLogsDumpToFile cudaLogsDumpToMemory cudaLogsRegisterCallback
                cudaLogsUnregisterCallback cudaMemDiscardAndPrefetchBatchAsync cudaMemDiscardBatchAsync
                cudaMemGetDefaultMemPool cudaMemGetLocationInfo cudaMemGetMemPool cudaMemPrefetchBatchAsync
                cudaMemSetMemPool cudaMemcpy3DWithAttributesAsync cudaMemcpyWithAttributesAsync
                cudaStreamBeginRecaptureToGraph cudaStreamGetDevResource cudaSubgridCreate
                cudaSubgridWorkerGridCreate cudaSubgridWorksetCreate cudaMemDiscardAndPrefetchBatchAsync_ptsz
                cudaMemDiscardBatchAsync_ptsz cudaMemPrefetchBatchAsync_ptsz cudaMemcpy3DWithAttributesAsync_ptsz
                cudaMemcpyWithAttributesAsync_ptsz cudaStreamBeginRecaptureToGraph_ptsz cudaStreamGetDevResource_ptsz
            }
            no_12 {
                cudaLaunchCooperativeKernelMultiDevice cudaSetDoubleForDevice cudaSetDoubleForHost
                cudaSignalExternalSemaphoresAsync_v2 cudaWaitExternalSemaphoresAsync_v2
                cudaSignalExternalSemaphoresAsync_v2_ptsz cudaWaitExternalSemaphoresAsync_v2_ptsz
            }
        }
    };
}
