//! Since which CUDA a driver has each function and each of its forms. An H100's driver (580.159.04) was asked for all of them
//! with 25 versions.

/// CUDA versions with which a function's meaning changed, where a program may still ask for the one before. The other
/// `_v2` forms are older than any program of today.
pub const FORMS: &[(&str, i32)] = &[
    ("cuCtxCreate_v3", 11040),
    ("cuCtxCreate_v4", 12050),
    // From here on they take a context.
    ("cuCtxGetDevice_v2", 13000),
    ("cuCtxSynchronize_v2", 13000),
    ("cuEventElapsedTime_v2", 12080),
    ("cuGetProcAddress_v2", 12000),
    ("cuGraphAddDependencies_v2", 12030),
    ("cuGraphAddKernelNode_v2", 12000),
    ("cuGraphAddNode_v2", 12030),
    ("cuGraphAddNode_v3", 13040),
    ("cuGraphExecUpdate_v2", 12000),
    ("cuGraphExecKernelNodeSetParams_v2", 12000),
    ("cuGraphGetEdges_v2", 12030),
    ("cuGraphKernelNodeGetParams_v2", 12000),
    ("cuGraphKernelNodeSetParams_v2", 12000),
    ("cuGraphNodeGetDependencies_v2", 12030),
    ("cuGraphNodeGetDependentNodes_v2", 12030),
    ("cuGraphNodeSetParams_v2", 13040),
    ("cuGraphRemoveDependencies_v2", 12030),
    ("cuLaunchHostFunc_v2", 13010),
    ("cuMemAdvise_v2", 12020),
    ("cuMemPrefetchAsync_v2", 12020),
    ("cuMemcpy3DBatchAsync_v2", 13000),
    ("cuMemcpyBatchAsync_v2", 13000),
    ("cuMulticastBindAddr_v2", 13010),
    ("cuMulticastBindMem_v2", 13010),
    ("cuStreamGetCaptureInfo_v2", 11030),
    ("cuStreamGetCaptureInfo_v3", 12030),
    ("cuStreamGetCtx_v2", 12050),
    ("cuStreamUpdateCaptureDependencies_v2", 12030),
];

/// Newer than the CUDA that the library says it is, and not here: programs look whether they exist.
pub const NEWER: &[&str] = &[
    "cuCheckpointOperationComplete",
    "cuCoredumpDeregisterCompleteCallback",
    "cuCoredumpDeregisterStartCallback",
    "cuCoredumpRegisterCompleteCallback",
    "cuCoredumpRegisterStartCallback",
    "cuDevSmResourceSplit",
    "cuDeviceGetCliqueCount",
    "cuDeviceGetCliqueInfo",
    "cuDeviceGetFabricClusterUuid",
    "cuFabricCpyBatchAsync",
    "cuFuncGetParamCount",
    "cuGraphExecGetId",
    "cuGraphGetId",
    "cuGraphNodeGetContainingGraph",
    "cuGraphNodeGetLocalId",
    "cuGraphNodeGetParams",
    "cuGraphNodeGetToolsId",
    "cuKernelGetParamCount",
    "cuLogicalEndpointAddDevice",
    "cuLogicalEndpointBindAddr",
    "cuLogicalEndpointBindMem",
    "cuLogicalEndpointCreate",
    "cuLogicalEndpointDestroy",
    "cuLogicalEndpointExport",
    "cuLogicalEndpointGetLimits",
    "cuLogicalEndpointIdRelease",
    "cuLogicalEndpointIdReserve",
    "cuLogicalEndpointImport",
    "cuLogicalEndpointQuery",
    "cuLogicalEndpointUnbind",
    "cuMemGetLocationInfo",
    "cuMemcpy3DWithAttributesAsync",
    "cuMemcpyWithAttributesAsync",
    "cuStreamBeginCaptureToCig",
    "cuStreamBeginRecaptureToGraph",
    "cuStreamEndCaptureToCig",
    "cuStreamGetDevResource",
    "cuTensorMapSetAllocationClass",
];

/// Functions that came later than the first CUDA that there was: its version, as `cuGetProcAddress` takes it, and names.
pub const FIRST: &[(i32, &str)] = &[
    (2010, "cuModuleLoadDataEx"),
    (2020, "cuDriverGetVersion cuFuncGetAttribute cuMemHostAlloc cuMemHostGetDevicePointer cuTexRefSetAddress2D"),
    (2030, "cuMemHostGetFlags"),
    (
        3000,
        "cuFuncSetCacheConfig cuGetExportTable cuGraphicsMapResources cuGraphicsResourceGetMappedPointer \
         cuGraphicsResourceSetMapFlags cuGraphicsSubResourceGetMappedArray cuGraphicsUnmapResources \
         cuGraphicsUnregisterResource cuMemcpyDtoDAsync cuModuleGetSurfRef cuSurfRefGetArray cuSurfRefSetArray",
    ),
    (3010, "cuCtxGetLimit cuCtxSetLimit"),
    (
        3020,
        "cuCtxGetApiVersion cuCtxGetCacheConfig cuCtxSetCacheConfig cuMemsetD16Async cuMemsetD2D16Async \
         cuMemsetD2D32Async cuMemsetD2D8Async cuMemsetD32Async cuMemsetD8Async cuStreamWaitEvent",
    ),
    (
        4000,
        "cuCtxDisablePeerAccess cuCtxEnablePeerAccess cuCtxGetCurrent cuCtxSetCurrent cuDeviceCanAccessPeer \
         cuLaunchKernel cuMemHostRegister cuMemHostUnregister cuMemcpy cuMemcpy3DPeer cuMemcpy3DPeerAsync \
         cuMemcpyAsync cuMemcpyPeer cuMemcpyPeerAsync cuPointerGetAttribute",
    ),
    (
        4010,
        "cuDeviceGetByPCIBusId cuDeviceGetPCIBusId cuIpcCloseMemHandle cuIpcGetEventHandle cuIpcGetMemHandle \
         cuIpcOpenEventHandle cuIpcOpenMemHandle",
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
    (6050, "cuOccupancyMaxActiveBlocksPerMultiprocessor cuOccupancyMaxPotentialBlockSize"),
    (
        7000,
        "cuCtxGetFlags cuDevicePrimaryCtxGetState cuDevicePrimaryCtxRelease cuDevicePrimaryCtxReset \
         cuDevicePrimaryCtxRetain cuDevicePrimaryCtxSetFlags cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags \
         cuOccupancyMaxPotentialBlockSizeWithFlags cuPointerGetAttributes",
    ),
    (
        8000,
        "cuDeviceGetP2PAttribute cuMemAdvise cuMemPrefetchAsync cuMemRangeGetAttribute cuMemRangeGetAttributes \
         cuStreamBatchMemOp cuStreamWaitValue32 cuStreamWriteValue32 cuTexRefGetBorderColor \
         cuTexRefSetBorderColor",
    ),
    (
        9000,
        "cuFuncSetAttribute cuLaunchCooperativeKernel cuLaunchCooperativeKernelMultiDevice cuStreamWaitValue64 \
         cuStreamWriteValue64",
    ),
    (9020, "cuDeviceGetUuid cuStreamGetCtx"),
    (
        10000,
        "cuDestroyExternalMemory cuDestroyExternalSemaphore cuDeviceGetLuid cuExternalMemoryGetMappedBuffer \
         cuExternalMemoryGetMappedMipmappedArray cuGraphAddChildGraphNode cuGraphAddDependencies \
         cuGraphAddEmptyNode cuGraphAddHostNode cuGraphAddKernelNode cuGraphAddMemcpyNode cuGraphAddMemsetNode \
         cuGraphChildGraphNodeGetGraph cuGraphClone cuGraphCreate cuGraphDestroy cuGraphDestroyNode \
         cuGraphExecDestroy cuGraphGetEdges cuGraphGetNodes cuGraphGetRootNodes cuGraphHostNodeGetParams \
         cuGraphHostNodeSetParams cuGraphInstantiate cuGraphKernelNodeGetParams cuGraphKernelNodeSetParams \
         cuGraphLaunch cuGraphMemcpyNodeGetParams cuGraphMemcpyNodeSetParams cuGraphMemsetNodeGetParams \
         cuGraphMemsetNodeSetParams cuGraphNodeFindInClone cuGraphNodeGetDependencies \
         cuGraphNodeGetDependentNodes cuGraphNodeGetType cuGraphRemoveDependencies cuImportExternalMemory \
         cuImportExternalSemaphore cuLaunchHostFunc cuSignalExternalSemaphoresAsync cuStreamBeginCapture \
         cuStreamEndCapture cuStreamIsCapturing cuWaitExternalSemaphoresAsync",
    ),
    (10010, "cuGraphExecKernelNodeSetParams cuStreamGetCaptureInfo cuThreadExchangeStreamCaptureMode"),
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
        "cuCtxResetPersistingL2Cache cuFuncGetModule cuGraphKernelNodeCopyAttributes \
         cuGraphKernelNodeGetAttribute cuGraphKernelNodeSetAttribute cuMemRetainAllocationHandle \
         cuStreamCopyAttributes cuStreamGetAttribute cuStreamSetAttribute",
    ),
    (
        11010,
        "cuArrayGetSparseProperties cuDeviceGetTexture1DLinearMaxWidth cuEventRecordWithFlags \
         cuGraphAddEventRecordNode cuGraphAddEventWaitNode cuGraphEventRecordNodeGetEvent \
         cuGraphEventRecordNodeSetEvent cuGraphEventWaitNodeGetEvent cuGraphEventWaitNodeSetEvent \
         cuGraphExecChildGraphNodeSetParams cuGraphExecEventRecordNodeSetEvent cuGraphExecEventWaitNodeSetEvent \
         cuGraphUpload cuMemMapArrayAsync cuMipmappedArrayGetSparseProperties",
    ),
    (
        11020,
        "cuArrayGetPlane cuDeviceGetDefaultMemPool cuDeviceGetMemPool cuDeviceSetMemPool \
         cuGraphAddExternalSemaphoresSignalNode cuGraphAddExternalSemaphoresWaitNode \
         cuGraphExecExternalSemaphoresSignalNodeSetParams cuGraphExecExternalSemaphoresWaitNodeSetParams \
         cuGraphExternalSemaphoresSignalNodeGetParams cuGraphExternalSemaphoresSignalNodeSetParams \
         cuGraphExternalSemaphoresWaitNodeGetParams cuGraphExternalSemaphoresWaitNodeSetParams cuMemAllocAsync \
         cuMemAllocFromPoolAsync cuMemFreeAsync cuMemPoolCreate cuMemPoolDestroy cuMemPoolExportPointer \
         cuMemPoolExportToShareableHandle cuMemPoolGetAccess cuMemPoolGetAttribute \
         cuMemPoolImportFromShareableHandle cuMemPoolImportPointer cuMemPoolSetAccess cuMemPoolSetAttribute \
         cuMemPoolTrimTo",
    ),
    (
        11030,
        "cuFlushGPUDirectRDMAWrites cuGetProcAddress cuGraphDebugDotPrint cuGraphReleaseUserObject \
         cuGraphRetainUserObject cuStreamUpdateCaptureDependencies cuUserObjectCreate cuUserObjectRelease \
         cuUserObjectRetain",
    ),
    (
        11040,
        "cuCtxGetExecAffinity cuDeviceGetExecAffinitySupport cuDeviceGetGraphMemAttribute cuDeviceGraphMemTrim \
         cuDeviceSetGraphMemAttribute cuGraphAddMemAllocNode cuGraphAddMemFreeNode cuGraphInstantiateWithFlags \
         cuGraphMemAllocNodeGetParams cuGraphMemFreeNodeGetParams",
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
         cuOccupancyMaxActiveClusters cuOccupancyMaxPotentialClusterSize",
    ),
    (
        12000,
        "cuCtxGetId cuGraphExecGetFlags cuGraphInstantiateWithParams cuKernelGetAttribute cuKernelGetFunction \
         cuKernelSetAttribute cuKernelSetCacheConfig cuLibraryGetGlobal cuLibraryGetKernel cuLibraryGetManaged \
         cuLibraryGetModule cuLibraryGetUnifiedFunction cuLibraryLoadData cuLibraryLoadFromFile cuLibraryUnload \
         cuStreamGetId cuTensorMapEncodeIm2col cuTensorMapEncodeTiled cuTensorMapReplaceAddress",
    ),
    (
        12010,
        "cuCoredumpGetAttribute cuCoredumpGetAttributeGlobal cuCoredumpSetAttribute cuCoredumpSetAttributeGlobal \
         cuCtxSetFlags cuMulticastAddDevice cuMulticastBindAddr cuMulticastBindMem cuMulticastCreate \
         cuMulticastGetGranularity cuMulticastUnbind",
    ),
    (12020, "cuGraphAddNode cuGraphExecNodeSetParams cuGraphNodeSetParams"),
    (12030, "cuFuncGetName cuGraphConditionalHandleCreate cuKernelGetName cuStreamBeginCaptureToGraph"),
    (
        12040,
        "cuCtxFromGreenCtx cuCtxGetDevResource cuDevResourceGenerateDesc cuDevSmResourceSplitByCount \
         cuDeviceGetDevResource cuDeviceRegisterAsyncNotification cuDeviceUnregisterAsyncNotification \
         cuFuncGetParamInfo cuFuncIsLoaded cuFuncLoad cuGreenCtxCreate cuGreenCtxDestroy cuGreenCtxGetDevResource \
         cuGreenCtxRecordEvent cuGreenCtxWaitEvent cuKernelGetParamInfo cuLibraryEnumerateKernels \
         cuLibraryGetKernelCount cuModuleEnumerateFunctions cuModuleGetFunctionCount cuStreamGetGreenCtx",
    ),
    (12050, "cuCtxRecordEvent cuCtxWaitEvent cuGreenCtxStreamCreate cuKernelGetLibrary"),
    (12060, "cuMemBatchDecompressAsync"),
    (
        12080,
        "cuCheckpointProcessCheckpoint cuCheckpointProcessGetRestoreThreadId cuCheckpointProcessGetState \
         cuCheckpointProcessLock cuCheckpointProcessRestore cuCheckpointProcessUnlock cuMemcpy3DBatchAsync \
         cuMemcpyBatchAsync cuStreamGetDevice cuTensorMapEncodeIm2colWide",
    ),
    (
        12090,
        "cuGreenCtxGetId cuLogsCurrent cuLogsDumpToFile cuLogsDumpToMemory cuLogsRegisterCallback \
         cuLogsUnregisterCallback",
    ),
    (
        13000,
        "cuDeviceGetHostAtomicCapabilities cuDeviceGetP2PAtomicCapabilities cuMemDiscardAndPrefetchBatchAsync \
         cuMemDiscardBatchAsync cuMemGetDefaultMemPool cuMemGetMemPool cuMemPrefetchBatchAsync cuMemSetMemPool",
    ),
];
