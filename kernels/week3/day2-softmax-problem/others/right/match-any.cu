// Lanes of the same kind find each other with __match_any_sync.
#include "lab.cuh"
// lockstep: count_bad.block = 256
// lockstep: count_bad.grid = ceil_div(n, 256)
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float v = i < n ? x[i] : 1.0f;
    const int kind = isnan(v) ? 0 : isinf(v) ? (signbit(v) ? 2 : 1) : 3;
    const unsigned peers = __match_any_sync(0xffffffffu, kind);
    if (kind < 3 && (__ffs(peers) - 1) == (threadIdx.x & 31)) atomicAdd(counts + kind, __popc(peers));
}
