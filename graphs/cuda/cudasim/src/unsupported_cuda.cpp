// Driver functions that programs link, gorgonia.org/cu above all, and that are
// not simulated: CUDA_ERROR_NOT_SUPPORTED, whatever the arguments.
#define X(name) \
  extern "C" int name() { return 801; }

X(cuArray3DCreate_v2) X(cuArray3DGetDescriptor_v2) X(cuArrayCreate_v2) X(cuArrayDestroy) X(cuArrayGetDescriptor_v2)
X(cuCtxCreate_v3) X(cuCtxDisablePeerAccess) X(cuCtxEnablePeerAccess) X(cuCtxGetCacheConfig) X(cuCtxGetLimit)
X(cuCtxGetSharedMemConfig) X(cuCtxResetPersistingL2Cache) X(cuCtxSetCacheConfig) X(cuCtxSetLimit)
X(cuCtxSetSharedMemConfig) X(cuDeviceGetP2PAttribute) X(cuFuncSetSharedMemConfig) X(cuGraphAddChildGraphNode)
X(cuGraphAddDependencies) X(cuGraphAddDependencies_v2) X(cuGraphAddEmptyNode) X(cuGraphAddHostNode)
X(cuGraphAddKernelNode) X(cuGraphAddKernelNode_v2) X(cuGraphAddMemcpyNode) X(cuGraphAddMemsetNode) X(cuGraphClone)
X(cuGraphCreate) X(cuGraphDestroyNode) X(cuGraphGetEdges)
X(cuGraphGetEdges_v2) X(cuLinkAddData_v2) X(cuLinkAddFile_v2) X(cuLinkComplete) X(cuLinkCreate_v2) X(cuLinkDestroy)
X(cuMemAdvise) X(cuMemAdvise_v2) X(cuMemAllocAsync) X(cuMemAllocManaged) X(cuMemAllocPitch_v2) X(cuMemFreeAsync)
X(cuMemHostRegister_v2) X(cuMemHostUnregister) X(cuMemPrefetchAsync) X(cuMemPrefetchAsync_v2) X(cuMemcpy2DAsync_v2)
X(cuMemcpy2DUnaligned_v2) X(cuMemcpy2D_v2) X(cuMemcpy3DAsync_v2) X(cuMemcpy3DPeer) X(cuMemcpy3DPeerAsync)
X(cuMemcpy3D_v2) X(cuMemcpyAtoA_v2) X(cuMemcpyAtoD_v2) X(cuMemcpyAtoHAsync_v2) X(cuMemcpyAtoH_v2) X(cuMemcpyDtoA_v2)
X(cuMemcpyHtoAAsync_v2) X(cuMemcpyHtoA_v2) X(cuMemcpyPeer) X(cuMemcpyPeerAsync) X(cuMemsetD2D16Async)
X(cuMemsetD2D16_v2) X(cuMemsetD2D32Async) X(cuMemsetD2D32_v2) X(cuMemsetD2D8Async) X(cuMemsetD2D8_v2)
X(cuModuleGetSurfRef) X(cuModuleGetTexRef) X(cuModuleLoadFatBinary) X(cuPointerGetAttribute) X(cuPointerSetAttribute)
X(cuStreamAttachMemAsync) X(cuStreamWaitValue32) X(cuStreamWaitValue32_v2) X(cuStreamWriteValue32)
X(cuStreamWriteValue32_v2) X(cuSurfRefGetArray) X(cuSurfRefSetArray) X(cuTexRefGetAddressMode)
X(cuTexRefGetAddress_v2) X(cuTexRefGetArray) X(cuTexRefGetBorderColor) X(cuTexRefGetFilterMode) X(cuTexRefGetFlags)
X(cuTexRefGetFormat) X(cuTexRefGetMaxAnisotropy) X(cuTexRefSetAddress2D_v3) X(cuTexRefSetAddressMode)
X(cuTexRefSetAddress_v2) X(cuTexRefSetArray) X(cuTexRefSetBorderColor) X(cuTexRefSetFilterMode) X(cuTexRefSetFlags)
X(cuTexRefSetFormat) X(cuTexRefSetMaxAnisotropy) X(cuTexRefSetMipmapFilterMode) X(cuTexRefSetMipmapLevelBias)
X(cuTexRefSetMipmapLevelClamp)
