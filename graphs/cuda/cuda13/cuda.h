/*
 * CUDA 13 changed the parameters of five driver functions that
 * gorgonia.org/cu v0.9.6 calls. With this folder first among the include paths
 * (CGO_CFLAGS=-I$PWD/graphs/cuda/cuda13) they have their former parameters
 * again. Earlier toolkits pass through unchanged.
 */
#ifndef PRIVKERN_CUDA13_H
#define PRIVKERN_CUDA13_H

#include_next <cuda.h>

#if CUDA_VERSION >= 13000

static inline CUresult privkern_cuCtxCreate(CUcontext *context, unsigned int flags, CUdevice device)
{
    return cuCtxCreate_v4(context, NULL, flags, device);
}

static inline CUresult privkern_cuGraphAddDependencies(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count)
{
    return cuGraphAddDependencies_v2(graph, from, to, NULL, count);
}

static inline CUresult privkern_cuGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count)
{
    return cuGraphGetEdges_v2(graph, from, to, NULL, count);
}

/* CUDA 12 counted the host as device -1. */
static inline CUmemLocation privkern_location(CUdevice device)
{
    CUmemLocation location;
    location.type = device < 0 ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
    location.id = device < 0 ? 0 : device;
    return location;
}

static inline CUresult privkern_cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device)
{
    return cuMemAdvise_v2(address, bytes, advice, privkern_location(device));
}

static inline CUresult privkern_cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream)
{
    return cuMemPrefetchAsync_v2(address, bytes, privkern_location(device), 0, stream);
}

#undef cuCtxCreate
#define cuCtxCreate privkern_cuCtxCreate
#undef cuGraphAddDependencies
#define cuGraphAddDependencies privkern_cuGraphAddDependencies
#undef cuGraphGetEdges
#define cuGraphGetEdges privkern_cuGraphGetEdges
#undef cuMemAdvise
#define cuMemAdvise privkern_cuMemAdvise
#undef cuMemPrefetchAsync
#define cuMemPrefetchAsync privkern_cuMemPrefetchAsync

#endif
#endif
