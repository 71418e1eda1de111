// The producer arrives for a stage when it has started the next one.
#include "tma.cuh"
// lockstep: block = 160
// lockstep: grid = ceil_div(n, 32), ceil_div(m, 32)
#define STAGES 4
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ __align__(16) float as[STAGES][32][16], bs[STAGES][16][32];
    __shared__ uint64_t bars[2 * STAGES];
    const int t = threadIdx.x, r0 = blockIdx.y * 32, c0 = blockIdx.x * 32, steps = ceil_div(k, 16);
    uint32_t full = shared_address(bars), empty = full + 8 * STAGES;
    if (t < STAGES) {
        barrier_init(full + 8 * t, 32);
        barrier_init(empty + 8 * t, 128);
    }
    __syncthreads();
    if (t / 32 == 4) {
        for (int s = 0; s < steps; s++) {
            barrier_wait(empty + 8 * (s % STAGES), s / STAGES & 1 ^ 1);
            for (int p = t - 128; p < 128; p += 32) {
                int r = r0 + p / 4, q = s * 16 + p % 4 * 4;
                bool ok = r < m && q < k;
                copy_async(shared_address(&as[s % STAGES][p / 4][p % 4 * 4]), ok ? a + r * k + q : a, ok ? 16 : 0);
                r = s * 16 + p / 8, q = c0 + p % 8 * 4;
                ok = r < k && q < n;
                copy_async(shared_address(&bs[s % STAGES][p / 8][p % 8 * 4]), ok ? b + r * n + q : b, ok ? 16 : 0);
            }
            copy_commit();
            if (s > 0) {
                copy_wait<1>();
                barrier_arrive(full + 8 * ((s - 1) % STAGES));
            }
        }
        copy_wait<0>();
        barrier_arrive(full + 8 * ((steps - 1) % STAGES));
        return;
    }
    float acc[8] = {};
    for (int s = 0; s < steps; s++) {
        barrier_wait(full + 8 * (s % STAGES), s / STAGES & 1);
        for (int d = 0; d < 16; d++)
            for (int i = 0; i < 8; i++) acc[i] += as[s % STAGES][t / 32 + 4 * i][d] * bs[s % STAGES][d][t % 32];
        barrier_arrive(empty + 8 * (s % STAGES));
    }
    for (int i = 0; i < 8; i++) {
        int r = r0 + t / 32 + 4 * i, q = c0 + t % 32;
        if (r < m && q < n) c[r * n + q] = acc[i];
    }
}
