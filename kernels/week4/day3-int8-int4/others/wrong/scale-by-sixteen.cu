// i / 16 where a step is 16 codes.
// rejected for: wrong_output
// leads to: c / 128
#include "lab.cuh"
#include <cuda_fp16.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
// lockstep: block = 256
// lockstep: grid = n
// lockstep: dynamic_shared_bytes = 4 * k
extern "C" __global__ void gemv_int4(const __half* x, const unsigned char* w_codes, const __half* w_scales, float* y, int n, int k)
{
    extern __shared__ float xs[];
    __shared__ float parts[8];
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    for (int i = threadIdx.x; i < k; i += blockDim.x) xs[i] = __half2float(x[i]);
    block.sync();
    const int row = blockIdx.x;
    const uint2* w = reinterpret_cast<const uint2*>(w_codes + (size_t)row * k / 2);
    float sum = 0.0f;
    for (int i = threadIdx.x; i < k / 16; i += blockDim.x) {
        const uint2 v = w[i];
        const float s = __half2float(w_scales[(size_t)row * ceil_div(k, 128) + i / 16]);
        for (int j = 0; j < 8; j++) {
            sum += s * ((int)(((v.x >> (4 * j)) & 15) ^ 8) - 8) * xs[16 * i + j];
            sum += s * ((int)(((v.y >> (4 * j)) & 15) ^ 8) - 8) * xs[16 * i + 8 + j];
        }
    }
    sum = cg::reduce(warp, sum, cg::plus<float>());
    if (warp.thread_rank() == 0) parts[warp.meta_group_rank()] = sum;
    block.sync();
    if (threadIdx.x == 0) {
        float total = 0;
        for (int i = 0; i < 8; i++) total += parts[i];
        y[row] = total;
    }
}
