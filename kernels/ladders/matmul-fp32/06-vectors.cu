#include "lab.cuh"

// Matrix product, rung 6: four floats in one instruction, everywhere.
//
// The multiplications need issue slots, and so does every load; an instruction that moves 16 bytes costs one slot, as
// one that moves 4. A thread's 8 x 8 outputs become 2 x 2 squares of 4 x 4, so that its 16 operands of a step are four
// float4. For that the tile of a is kept transposed, [k][row]: a thread reads a float4 along k from global memory and
// puts its parts into four rows. PAD makes those stores free of bank conflicts: 16 lanes write neighboring rows, the
// other 16 write 4 steps further along k, 4 * 132 words away, which is 16 banks.
// lockstep: block = 256
// lockstep: grid = ceil_div(n, BN), ceil_div(m, BM)
#define BM 128
#define BN 128
#define BK 8
#define PAD 4
#define THREADS 256

// Four neighbors of a row, of which `count` exist. A float4 must lie at a multiple of 16 bytes, so that rows whose
// length is no multiple of 4 are read one by one.
__device__ float4 read_4(const float* from, int count, bool aligned)
{
    if (aligned && count >= 4) {
        return *reinterpret_cast<const float4*>(from);
    }
    return make_float4(count > 0 ? from[0] : 0.0f, count > 1 ? from[1] : 0.0f, count > 2 ? from[2] : 0.0f,
                       count > 3 ? from[3] : 0.0f);
}

__device__ float part(const float4& v, int e)
{
    return e == 0 ? v.x : e == 1 ? v.y : e == 2 ? v.z : v.w;
}

__device__ void write_4(float* to, const float* v, int count, bool aligned)
{
    if (aligned && count >= 4) {
        *reinterpret_cast<float4*>(to) = make_float4(v[0], v[1], v[2], v[3]);
        return;
    }
#pragma unroll
    for (int e = 0; e < 4; e++) {
        if (e < count) {
            to[e] = v[e];
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    __shared__ __align__(16) float tile_a[BK][BM + PAD];
    __shared__ __align__(16) float tile_b[BK][BN];
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int my_row = threadIdx.x / 16 * 4, my_col = threadIdx.x % 16 * 4;  // and 64 further down and right
    const int a_row = threadIdx.x / 2, a_col = threadIdx.x % 2 * 4;
    const int b_row = threadIdx.x / 32, b_col = threadIdx.x % 32 * 4;
    float sum[8][8] = {};
    for (int k0 = 0; k0 < k; k0 += BK) {
        const float4 from_a = read_4(a + (long long)(row0 + a_row) * k + k0 + a_col,
                                     row0 + a_row < m ? k - k0 - a_col : 0, k % 4 == 0);
        const float4 from_b = read_4(b + (long long)(k0 + b_row) * n + col0 + b_col,
                                     k0 + b_row < k ? n - col0 - b_col : 0, n % 4 == 0);
        tile_a[a_col][a_row] = from_a.x;
        tile_a[a_col + 1][a_row] = from_a.y;
        tile_a[a_col + 2][a_row] = from_a.z;
        tile_a[a_col + 3][a_row] = from_a.w;
        *reinterpret_cast<float4*>(&tile_b[b_row][b_col]) = from_b;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < BK; i++) {
            float4 x[2], y[2];
#pragma unroll
            for (int h = 0; h < 2; h++) {
                x[h] = *reinterpret_cast<const float4*>(&tile_a[i][my_row + 64 * h]);
                y[h] = *reinterpret_cast<const float4*>(&tile_b[i][my_col + 64 * h]);
            }
#pragma unroll
            for (int r = 0; r < 8; r++) {
#pragma unroll
                for (int s = 0; s < 8; s++) {
                    sum[r][s] += part(x[r / 4], r % 4) * part(y[s / 4], s % 4);
                }
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 8; r++) {
        const int row = row0 + my_row + 64 * (r / 4) + r % 4;
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int col = col0 + my_col + 64 * h;
            if (row < m) {
                write_4(c + (long long)row * n + col, &sum[r][4 * h], n - col, n % 4 == 0);
            }
        }
    }
}
