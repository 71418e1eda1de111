// The lanes that agree form a group, and one of them adds for all.
// does not reach: Wide loads
#include <cooperative_groups.h>
#include "lab.cuh"
// lockstep: count_bad.block = 256
// lockstep: count_bad.grid = ceil_div(n, 256)
namespace cg = cooperative_groups;
extern "C" __global__ void count_bad(const float* x, int* counts, int n)
{
    const int i = cg::this_grid().thread_rank();
    if (i >= n) return;
    const float v = x[i];
    if (isfinite(v)) return;
    const int which = isnan(v) ? 0 : v > 0 ? 1 : 2;
    for (int c = 0; c < 3; c++) {
        if (which == c) {
            auto g = cg::coalesced_threads();
            if (g.thread_rank() == 0) atomicAdd(&counts[c], g.size());
        }
    }
}
