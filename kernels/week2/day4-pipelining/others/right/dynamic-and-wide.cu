// Tiles of 64 x 64 in dynamic shared memory, 256 threads, five stages.
#include "mma.cuh"
// lockstep: block = 256
// lockstep: grid = ceil_div(n, 64), ceil_div(m, 64)
// lockstep: dynamic_shared_bytes = STAGES * 8192
#define STAGES 5
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    extern __shared__ __align__(16) float shared[];
    const int t = threadIdx.x, x = t % 16, y = t / 16;
    const int r0 = blockIdx.y * 64, c0 = blockIdx.x * 64, steps = ceil_div(k, 16);
    float acc[4][4] = {};
    auto fetch = [&](int s) {
        float* as = shared + s % STAGES * 2048;
        float* bs = as + 1024;
        int r = r0 + t / 4, q = s * 16 + t % 4 * 4;
        bool ok = r < m && q < k;
        copy_async(shared_address(as + 4 * t), ok ? a + r * k + q : a, ok ? 16 : 0);
        r = s * 16 + t / 16, q = c0 + t % 16 * 4;
        ok = r < k && q < n;
        copy_async(shared_address(bs + 4 * t), ok ? b + r * n + q : b, ok ? 16 : 0);
        copy_commit();
    };
    for (int s = 0; s < STAGES - 1; s++) fetch(s);
    for (int s = 0; s < steps; s++) {
        copy_wait<STAGES - 2>();
        __syncthreads();
        fetch(s + STAGES - 1);
        const float* as = shared + s % STAGES * 2048;
        const float* bs = as + 1024;
        for (int d = 0; d < 16; d++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++) acc[i][j] += as[(y + 16 * i) * 16 + d] * bs[d * 64 + x + 16 * j];
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            int r = r0 + y + 16 * i, q = c0 + x + 16 * j;
            if (r < m && q < n) c[r * n + q] = acc[i][j];
        }
}
