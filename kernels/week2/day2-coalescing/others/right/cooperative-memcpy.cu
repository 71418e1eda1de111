// memcpy_async of cooperative groups.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
namespace cg = cooperative_groups;
// lockstep: block = 256
// lockstep: grid = (n + 255) / 256
extern "C" __global__ void aos_to_soa(const float *points, float *soa, int n)
{
    __shared__ float s[768];
    auto block = cg::this_thread_block();
    const int first = blockIdx.x * 256, count = min(256, n - first);
    cg::memcpy_async(block, s, points + 3 * first, sizeof(float) * 3 * count);
    cg::wait(block);
    const int t = block.thread_rank();
    for (int f = 0; f < 3; f++)
        if (t < count) soa[f * n + first + t] = s[3 * t + f];
}
