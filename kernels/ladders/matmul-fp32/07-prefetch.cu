#include "lab.cuh"

// Matrix product, rung 7: the next tile is on its way while this one is multiplied.
//
// Until now all threads of a block waited for global memory, then multiplied, then waited again. Here a thread asks for
// its part of the next tile before it starts to multiply, keeps it in 8 registers, and puts it into the other of two
// buffers when it is done: the 600 clocks that global memory takes pass while 8 x 64 multiplications run. Two buffers
// also mean one barrier for a tile in place of two, because nobody writes where others still read.
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

extern "C" __global__ void __launch_bounds__(THREADS, 2)
    matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    __shared__ __align__(16) float tile_a[2][BK][BM + PAD];
    __shared__ __align__(16) float tile_b[2][BK][BN];
    const int row0 = blockIdx.y * BM, col0 = blockIdx.x * BN;
    const int my_row = threadIdx.x / 16 * 4, my_col = threadIdx.x % 16 * 4;  // and 64 further down and right
    const int a_row = threadIdx.x / 2, a_col = threadIdx.x % 2 * 4;
    const int b_row = threadIdx.x / 32, b_col = threadIdx.x % 32 * 4;
    float sum[8][8] = {};

    float4 from_a, from_b;
    // Pointers that move on take fewer registers than addresses worked out anew: two blocks fit without spilling.
    const float* next_a = a + (long long)(row0 + a_row) * k + a_col;
    const float* next_b = b + (long long)b_row * n + col0 + b_col;
    int left = k;
    auto fetch = [&] {
        from_a = read_4(next_a, row0 + a_row < m ? left - a_col : 0, k % 4 == 0);
        from_b = read_4(next_b, b_row < left ? n - col0 - b_col : 0, n % 4 == 0);
        next_a += BK;
        next_b += (long long)BK * n;
        left -= BK;
    };
    auto store = [&](int buffer) {
#pragma unroll
        for (int e = 0; e < 4; e++) {
            tile_a[buffer][a_col + e][a_row] = part(from_a, e);
        }
        *reinterpret_cast<float4*>(&tile_b[buffer][b_row][b_col]) = from_b;
    };
    fetch();
    store(0);
    __syncthreads();
    int buffer = 0;
    for (int k0 = 0; k0 < k; k0 += BK) {
        // Behind the last tile this makes zeros without touching memory.
        fetch();
#pragma unroll
        for (int i = 0; i < BK; i++) {
            float4 x[2], y[2];
#pragma unroll
            for (int h = 0; h < 2; h++) {
                x[h] = *reinterpret_cast<const float4*>(&tile_a[buffer][i][my_row + 64 * h]);
                y[h] = *reinterpret_cast<const float4*>(&tile_b[buffer][i][my_col + 64 * h]);
            }
#pragma unroll
            for (int r = 0; r < 8; r++) {
#pragma unroll
                for (int s = 0; s < 8; s++) {
                    sum[r][s] += part(x[r / 4], r % 4) * part(y[s / 4], s % 4);
                }
            }
        }
        buffer ^= 1;
        store(buffer);
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
