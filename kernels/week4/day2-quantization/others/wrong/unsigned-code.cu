// The code is cast to unsigned char by way of an unsigned conversion: negatives become 0.
// rejected for: wrong_output
// leads to: all wrong ones are 0
#include "lab.cuh"
#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
// lockstep: find_amax.block = 128
// lockstep: find_amax.grid = 8
// lockstep: quantize.block = 128
// lockstep: quantize.grid = 16
extern "C" __global__ void find_amax(const __half* __restrict__ x, unsigned* __restrict__ amax, int n)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    float most = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        most = max(most, abs(__half2float(x[i])));
    most = cg::reduce(warp, most, cg::greater<float>());
    if (warp.thread_rank() == 0) atomicMax((int*)amax, __float_as_int(most));
}
extern "C" __global__ void quantize(const __half* __restrict__ x, const unsigned* __restrict__ amax, signed char* __restrict__ codes, float* __restrict__ scale, int n)
{
    const float s = __fdiv_rn(__uint_as_float(*amax), 127.0f);
    if (blockIdx.x == 0 && threadIdx.x == 0) *scale = s;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        codes[i] = s > 0 ? (signed char)__float2uint_rn(__half2float(x[i]) / s) : (signed char)0;
}
