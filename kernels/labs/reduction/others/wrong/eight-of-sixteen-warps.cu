// Only eight of sixteen warps.
// rejected for: wrong_output
// leads to: left out
#include "lab.cuh"
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
// lockstep: block = 512
// lockstep: grid = min(ceil_div(n, 2048), 132)
// Cooperative groups for the warps; the totals by a warp of the last block.
extern "C" __global__ void sum(const float* __restrict__ x, float* partial, unsigned* done, float* y, int n)
{
    __shared__ float warps[16];
    __shared__ unsigned ticket;
    auto block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    const float4* x4 = reinterpret_cast<const float4*>(x);
    float mine = 0.0f;
    const int threads = gridDim.x * blockDim.x, me = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = me; i < n / 4; i += threads) {
        const float4 v = x4[i];
        mine += (v.x + v.y) + (v.z + v.w);
    }
    if (me < n % 4) mine += x[n / 4 * 4 + me];
    mine = cg::reduce(warp, mine, cg::plus<float>());
    if (warp.thread_rank() == 0) warps[warp.meta_group_rank()] = mine;
    block.sync();
    if (warp.meta_group_rank() == 0) {
        float total = warp.thread_rank() < 8 ? warps[warp.thread_rank()] : 0.0f;
        total = cg::reduce(warp, total, cg::plus<float>());
        if (warp.thread_rank() == 0) {
            partial[blockIdx.x] = total;
            __threadfence();
            ticket = atomicAdd(done, 1u);
        }
    }
    block.sync();
    if (ticket == gridDim.x - 1 && warp.meta_group_rank() == 0) {
        __threadfence();
        float total = 0.0f;
        for (int i = warp.thread_rank(); i < gridDim.x; i += 32) total += __ldcg(partial + i);
        total = cg::reduce(warp, total, cg::plus<float>());
        if (warp.thread_rank() == 0) {
            *y = total;
            atomicExch(done, 0u);
        }
    }
}
