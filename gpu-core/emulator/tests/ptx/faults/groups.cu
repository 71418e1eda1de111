// Cooperative groups: grid, block, cluster and tiles of a warp.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;
//@ grid_sync grid=8 block=64 coop=1 args=out:512 fault=none
extern "C" __global__ void grid_sync(unsigned* out) {
    auto g = cg::this_grid();
    for (int i = 0; i < 3; ++i) {
        unsigned v = out[(g.thread_rank() + 64) % 512];
        g.sync();
        out[g.thread_rank()] = v + 1;
        g.sync();
    }
}
//@ tiles grid=2 block=64 args=out:64 fault=none
extern "C" __global__ void tiles(unsigned* out) {
    __shared__ unsigned s[64];
    auto b = cg::this_thread_block();
    auto t = cg::tiled_partition<16>(b);
    unsigned v = cg::reduce(t, (unsigned)threadIdx.x, cg::plus<unsigned>());
    s[threadIdx.x] = v;
    t.sync();
    v = s[threadIdx.x ^ 5];
    b.sync();
    s[threadIdx.x] = v;
    cg::sync(b);
    auto c = cg::coalesced_threads();
    v += c.shfl(s[63 - threadIdx.x], 0);
    if (threadIdx.x % 3 == 0) { auto d = cg::coalesced_threads(); v += d.size() + d.shfl(v, 0); }
    if (blockIdx.x == 0) out[threadIdx.x] = v;
}
//@ cluster_group grid=4 cluster=2 block=64 args=out:256 fault=none
extern "C" __global__ void cluster_group(unsigned* out) {
    __shared__ unsigned s[64];
    auto c = cg::this_cluster();
    s[threadIdx.x] = threadIdx.x + blockIdx.x;
    c.sync();
    unsigned* other = c.map_shared_rank(s, c.block_rank() ^ 1);
    unsigned v = other[63 - threadIdx.x];
    c.sync();
    atomicAdd(&other[threadIdx.x], v);
    c.sync();
    out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x];
}
//@ tile_no_sync block=32 args=out:32 fault=race
extern "C" __global__ void tile_no_sync(unsigned* out) {
    __shared__ unsigned s[32];
    auto t = cg::tiled_partition<32>(cg::this_thread_block());
    s[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = s[t.size() - 1 - t.thread_rank()];
}
