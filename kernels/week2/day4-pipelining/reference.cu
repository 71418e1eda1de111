#include "mma.cuh"

// The ring of solution.cu with faster arithmetic: four steps of k at a time, so that A is read from shared memory in pieces
// of 16 bytes and B in pieces of 8. Six stages: 24 KiB, and 20 KiB of them in flight at any time.
// lockstep: block = 128
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 32
#define DEPTH 16
#define STAGES 6

extern "C" __global__ void __launch_bounds__(128)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    __shared__ __align__(16) float tile_a[STAGES][TILE][DEPTH];
    __shared__ __align__(16) float tile_b[STAGES][DEPTH][TILE];
    const int first_row = blockIdx.y * TILE, first_column = blockIdx.x * TILE;
    const int steps = ceil_div(k, DEPTH);
    const int a_row = threadIdx.x / 4, a_column = threadIdx.x % 4 * 4;
    const int b_row = threadIdx.x / 8, b_column = threadIdx.x % 8 * 4;

    // Where this thread's pieces of step 0 are; a step moves them by DEPTH columns of A and DEPTH rows of B.
    const bool row_in_a = first_row + a_row < m, column_in_b = first_column + b_column < n;
    const float* from_a = row_in_a ? a + static_cast<int64_t>(first_row + a_row) * k + a_column : a;
    const float* from_b = column_in_b ? b + static_cast<int64_t>(b_row) * n + first_column + b_column : b;
    const uint32_t to_a = shared_address(&tile_a[0][a_row][a_column]), to_b = shared_address(&tile_b[0][b_row][b_column]);

    int fetched = 0, slot = 0;
    auto fetch = [&]() {
        if (fetched < k) {
            const bool in_a = row_in_a && fetched + a_column < k, in_b = column_in_b && fetched + b_row < k;
            copy_async(to_a + slot * TILE * DEPTH * 4, in_a ? from_a : a, in_a ? 16 : 0);
            copy_async(to_b + slot * TILE * DEPTH * 4, in_b ? from_b : b, in_b ? 16 : 0);
            from_a += DEPTH;
            from_b += static_cast<int64_t>(DEPTH) * n;
            fetched += DEPTH;
        }
        copy_commit();
        slot = slot + 1 == STAGES ? 0 : slot + 1;
    };

    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float sum[4][2] = {};
#pragma unroll
    for (int step = 0; step < STAGES - 1; step++) fetch();
    int stage = 0;
#pragma unroll 1
    for (int step = 0; step < steps; step++) {
        copy_wait<STAGES - 2>();
        __syncthreads();
        fetch();
#pragma unroll
        for (int d = 0; d < DEPTH; d += 4) {
            float4 p[4];
            float2 q[4];
#pragma unroll
            for (int i = 0; i < 4; i++) p[i] = *reinterpret_cast<const float4*>(&tile_a[stage][y + 8 * i][d]);
#pragma unroll
            for (int e = 0; e < 4; e++) q[e] = *reinterpret_cast<const float2*>(&tile_b[stage][d + e][2 * x]);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                sum[i][0] += p[i].x * q[0].x + p[i].y * q[1].x + p[i].z * q[2].x + p[i].w * q[3].x;
                sum[i][1] += p[i].x * q[0].y + p[i].y * q[1].y + p[i].z * q[2].y + p[i].w * q[3].y;
            }
        }
        stage = stage + 1 == STAGES ? 0 : stage + 1;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int row = first_row + y + 8 * i, column = first_column + 2 * x;
        if (row < m && column < n) {
            *reinterpret_cast<float2*>(c + static_cast<int64_t>(row) * n + column) = make_float2(sum[i][0], sum[i][1]);
        }
    }
}
