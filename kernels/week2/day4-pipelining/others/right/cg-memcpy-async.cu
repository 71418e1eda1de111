// Whole rows by cooperative groups' memcpy_async, two buffers.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include "lab.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(n, 32), ceil_div(m, 32)
namespace cg = cooperative_groups;
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ __align__(16) float ta[2][32][16], tb[2][16][32];
    auto block = cg::this_thread_block();
    const int r0 = blockIdx.y * 32, c0 = blockIdx.x * 32, t = threadIdx.x;
    for (int i = t; i < 2 * 512; i += 128) (&ta[0][0][0])[i] = (&tb[0][0][0])[i] = 0;
    block.sync();
    float sum[4][2] = {};
    auto load = [&](int s) {
        float (*pa)[16] = ta[s & 1];
        float (*pb)[32] = tb[s & 1];
        for (int r = 0; r < 32 && r0 + r < m; r++) cg::memcpy_async(block, pa[r], a + (r0 + r) * k + s * 16, sizeof(float) * min(16, k - s * 16));
        for (int r = 0; r < 16 && s * 16 + r < k; r++) cg::memcpy_async(block, pb[r], b + (s * 16 + r) * n + c0, sizeof(float) * min(32, n - c0));
    };
    const int steps = (k + 15) / 16;
    load(0);
    for (int s = 0; s < steps; s++) {
        cg::wait(block);
        if (s + 1 < steps) load(s + 1);
        const int deep = min(16, k - s * 16);
        for (int d = 0; d < deep; d++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 2; j++) sum[i][j] += ta[s & 1][t / 16 + 8 * i][d] * tb[s & 1][d][t % 16 + 16 * j];
        block.sync();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 2; j++) {
            int r = r0 + t / 16 + 8 * i, q = c0 + t % 16 + 16 * j;
            if (r < m && q < n) c[r * n + q] = sum[i][j];
        }
}
