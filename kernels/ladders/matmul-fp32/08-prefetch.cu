#include "lab.cuh"

// Matrix product, rung 8: the next tile is on its way while this one is multiplied.
//
// Until now all threads waited for global memory, then multiplied, then waited again. Here a thread asks for its part of
// the next tile before it starts to multiply, keeps it in 16 registers, and puts it into the other of two buffers when
// it is done: the 600 clocks that global memory takes pass while 8 x 128 multiplications run. Two buffers also mean one
// barrier for a tile in place of two, because nobody writes where others still read.
// lockstep: block = 128
// lockstep: grid = ceil_div(n, BN), ceil_div(m, BM)
#define BM 128
#define BN 128
#define BK 8
#define PAD 4
#define THREADS 128

// Four neighbours of a row, of which `count` exist. A float4 must lie at a multiple of 16 bytes, so that rows whose
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

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    __shared__ __align__(16) float tile_a[2][BK][BM + PAD];
    __shared__ __align__(16) float tile_b[2][BK][BN];
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int my_row = warp / 2 * 64 + lane / 4 * 4;  // and 32 further down
    const int my_col = warp % 2 * 64 + lane % 4 * 4;  // and 16, 32, 48 to the right
    const int a_row = threadIdx.x / 2, a_col = threadIdx.x % 2 * 4;    // and 64 rows below
    const int b_row = threadIdx.x / 32, b_col = threadIdx.x % 32 * 4;  // and 4 rows below
    float sum[8][16] = {};

    float4 from_a[2], from_b[2];
    auto fetch = [&](int k0) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
            const int in_a = row0 + a_row + 64 * h, in_b = k0 + b_row + 4 * h;
            from_a[h] = read_4(a + (long long)in_a * k + k0 + a_col, in_a < m ? k - k0 - a_col : 0, k % 4 == 0);
            from_b[h] = read_4(b + (long long)in_b * n + col0 + b_col, in_b < k ? n - col0 - b_col : 0, n % 4 == 0);
        }
    };
    auto keep = [&](int buffer) {
#pragma unroll
        for (int h = 0; h < 2; h++) {
#pragma unroll
            for (int e = 0; e < 4; e++) {
                tile_a[buffer][a_col + e][a_row + 64 * h] = part(from_a[h], e);
            }
            *reinterpret_cast<float4*>(&tile_b[buffer][b_row + 4 * h][b_col]) = from_b[h];
        }
    };
    fetch(0);
    keep(0);
    __syncthreads();
    int buffer = 0;
    for (int k0 = 0; k0 < k; k0 += BK) {
        // Behind the last tile this fetches zeros without touching memory.
        fetch(k0 + BK);
#pragma unroll
        for (int i = 0; i < BK; i++) {
            float4 x[2], y[4];
#pragma unroll
            for (int h = 0; h < 2; h++) {
                x[h] = *reinterpret_cast<const float4*>(&tile_a[buffer][i][my_row + 32 * h]);
            }
#pragma unroll
            for (int h = 0; h < 4; h++) {
                y[h] = *reinterpret_cast<const float4*>(&tile_b[buffer][i][my_col + 16 * h]);
            }
#pragma unroll
            for (int r = 0; r < 8; r++) {
#pragma unroll
                for (int s = 0; s < 16; s++) {
                    sum[r][s] += part(x[r / 4], r % 4) * part(y[s / 4], s % 4);
                }
            }
        }
        buffer ^= 1;
        keep(buffer);
        __syncthreads();
    }
#pragma unroll
    for (int r = 0; r < 8; r++) {
        const int row = row0 + my_row + 32 * (r / 4) + r % 4;
#pragma unroll
        for (int h = 0; h < 4; h++) {
            const int col = col0 + my_col + 16 * h;
            if (row < m) {
                write_4(c + (long long)row * n + col, &sum[r][4 * h], n - col, n % 4 == 0);
            }
        }
    }
}
