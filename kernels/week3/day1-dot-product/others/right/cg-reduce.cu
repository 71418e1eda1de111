// A warp as a tile of cooperative groups, and its reduce.
// does not reach: Nine tenths of a copy
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 8)
namespace cg = cooperative_groups;
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{

    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const int key = blockIdx.x * 8 + warp.meta_group_rank();
    if (key >= n) return;
    float sum = 0.f;
    for (int i = warp.thread_rank(); i < d; i += warp.size())
        sum = fmaf(__bfloat162float(q[i]), __bfloat162float(keys[size_t(key) * d + i]), sum);
    sum = cg::reduce(warp, sum, cg::plus<float>());
    if (warp.thread_rank() == 0) scores[key] = sum;
}
