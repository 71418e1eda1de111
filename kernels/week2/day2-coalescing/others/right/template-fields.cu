// A template over the number of fields, the chunk as an argument.
#include "lab.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(n, 128)
template <int F>
__device__ void unpack(const float *__restrict__ in, float *__restrict__ out, int n, float *tile)
{
    const int base = blockIdx.x * blockDim.x;
    const int here = min((int)blockDim.x, n - base);
    for (int i = threadIdx.x; i < F * here; i += blockDim.x) tile[i] = __ldg(in + F * base + i);
    __syncthreads();
    if (threadIdx.x < here)
#pragma unroll
        for (int f = 0; f < F; f++) out[(size_t)f * n + base + threadIdx.x] = tile[F * threadIdx.x + f];
}
extern "C" __global__ void aos_to_soa(const float *points, float *soa, int n)
{
    __shared__ float tile[3 * 128];
    unpack<3>(points, soa, n, tile);
}
