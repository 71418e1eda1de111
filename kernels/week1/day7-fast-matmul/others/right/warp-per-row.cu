// No shared memory: a warp makes 4 rows of 32 columns, and hands elements of A around by shuffles.
#include "lab.cuh"

// lockstep: block = 32, 4
// lockstep: grid = ceil_div(n, 32), ceil_div(m, 16)
extern "C" __global__ void matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                  int m, int n, int k)
{
    const int lane = threadIdx.x;
    const int row = (blockIdx.y * 4 + threadIdx.y) * 4, column = blockIdx.x * 32 + lane;
    float sum[4] = {0, 0, 0, 0};
    for (int start = 0; start < k; start += 32) {
        float mine[4];
        for (int r = 0; r < 4; r++)
            mine[r] = row + r < m && start + lane < k ? a[(row + r) * k + start + lane] : 0.0f;
        for (int i = 0; i < 32; i++) {
            const float v = start + i < k && column < n ? b[(start + i) * n + column] : 0.0f;
            for (int r = 0; r < 4; r++) sum[r] += __shfl_sync(FULL_MASK, mine[r], i) * v;
        }
    }
    for (int r = 0; r < 4; r++)
        if (row + r < m && column < n) c[(row + r) * n + column] = sum[r];
}
