// Everyday kernels whose speed in the emulator is measured beside the four of `speed.sm_90a.ptx`.
// All take three buffers of n floats (read as what they need) and a number.
#include <cuda_fp16.h>

extern "C" __global__ void saxpy_grid(const float *a, const float *b, float *c, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        c[i] = 2.5f * a[i] + b[i];
}

extern "C" __global__ void shuffle_reduce(const float *a, const float *b, float *c, unsigned n) {
    __shared__ float part[32];
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = i < n ? a[i] : 0.0f;
    for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0.0f;
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        if (threadIdx.x == 0) c[blockIdx.x] = sum;
    }
}

extern "C" __global__ void transpose(const float *a, const float *b, float *c, unsigned n) {
    __shared__ float tile[32][33];
    unsigned x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (unsigned j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = a[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (unsigned j = 0; j < 32; j += 8) c[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

extern "C" __global__ void stencil(const float *a, const float *b, float *c, unsigned n) {
    const int R = 3;
    __shared__ float s[256 + 2 * R];
    int i = blockIdx.x * 256 + threadIdx.x, l = threadIdx.x + R;
    s[l] = i < n ? a[i] : 0.0f;
    if (threadIdx.x < R) {
        s[l - R] = i >= R ? a[i - R] : 0.0f;
        s[l + 256] = i + 256 < n ? a[i + 256] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int k = -R; k <= R; k++) sum += s[l + k];
    if (i < n) c[i] = sum;
}

extern "C" __global__ void heat(const float *a, const float *b, float *c, unsigned n) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1) {
        unsigned i = y * n + x;
        c[i] = a[i] + 0.1f * (a[i - 1] + a[i + 1] + a[i - n] + a[i + n] - 4.0f * a[i]);
    }
}

extern "C" __global__ void histogram(const unsigned *a, const float *b, unsigned *c, unsigned n) {
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[(a[i] * 2654435761u + i) >> 24], 1u);
    __syncthreads();
    atomicAdd(&c[threadIdx.x], bins[threadIdx.x]);
}

extern "C" __global__ void copy4(const float4 *a, const float *b, float4 *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) c[i] = a[i];
}

extern "C" __global__ void axpy4(const float4 *a, const float4 *b, float4 *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) {
        float4 x = a[i], y = b[i];
        c[i] = make_float4(x.x * 2.0f + y.x, x.y * 2.0f + y.y, x.z * 2.0f + y.z, x.w * 2.0f + y.w);
    }
}

extern "C" __global__ void half2_math(const __half2 *a, const __half2 *b, __half2 *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        __half2 x = a[i], y = b[i];
        for (int k = 0; k < 4; k++) x = __hadd2(__hfma2(x, y, x), __hmul2(x, y));
        c[i] = x;
    }
}

extern "C" __global__ void hash(const unsigned *a, const unsigned *b, unsigned *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned h = a[i] ^ i;
        for (int k = 0; k < 4; k++) {
            h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u; h ^= h >> 16;
            h = (h << 7) | (h >> 25);
        }
        c[i] = h;
    }
}

extern "C" __global__ void hash64(const unsigned *a, const unsigned *b, unsigned *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned long long h = a[i] ^ i;
        for (int k = 0; k < 4; k++) { h ^= h >> 33; h *= 0xff51afd7ed558ccdull; h ^= h >> 29; }
        c[i] = unsigned(h);
    }
}

extern "C" __global__ void gelu(const float *a, const float *b, float *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float x = a[i];
        c[i] = 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
    }
}

extern "C" __global__ void softmax_row(const float *a, const float *b, float *c, unsigned n) {
    // One warp a row of n columns.
    unsigned row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    const float *in = a + row * n;
    float top = -1e30f, sum = 0.0f;
    for (unsigned i = lane; i < n; i += 32) top = fmaxf(top, in[i]);
    for (int step = 16; step > 0; step /= 2) top = fmaxf(top, __shfl_xor_sync(~0u, top, step));
    for (unsigned i = lane; i < n; i += 32) sum += __expf(in[i] - top);
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    for (unsigned i = lane; i < n; i += 32) c[row * n + i] = __expf(in[i] - top) / sum;
}

extern "C" __global__ void scan(const float *a, const float *b, float *c, unsigned n) {
    __shared__ float s[2][256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t, from = 0;
    s[0][t] = a[i];
    for (unsigned step = 1; step < 256; step *= 2) {
        __syncthreads();
        s[1 - from][t] = s[from][t] + (t >= step ? s[from][t - step] : 0.0f);
        from = 1 - from;
    }
    __syncthreads();
    c[i] = s[from][t];
}

extern "C" __global__ void matmul_blocked(const float *a, const float *b, float *c, unsigned n) {
    // 64 x 64 of the product by 16 x 16 threads, 4 x 4 elements each.
    __shared__ float as[16][68];
    __shared__ float bs[16][68];
    unsigned tx = threadIdx.x, ty = threadIdx.y, t = ty * 16 + tx;
    unsigned row = blockIdx.y * 64, col = blockIdx.x * 64;
    float acc[4][4] = {};
    for (unsigned k0 = 0; k0 < n; k0 += 16) {
        for (unsigned j = 0; j < 4; j++) {
            unsigned e = t + j * 256;
            as[e % 16][e / 16] = a[(row + e / 16) * n + k0 + e % 16];
            bs[e / 64][e % 64] = b[(k0 + e / 64) * n + col + e % 64];
        }
        __syncthreads();
        for (unsigned k = 0; k < 16; k++) {
            float4 x = *(float4 *)&as[k][ty * 4], y = *(float4 *)&bs[k][tx * 4];
            float xs[4] = {x.x, x.y, x.z, x.w}, ys[4] = {y.x, y.y, y.z, y.w};
            for (int i = 0; i < 4; i++) for (int j = 0; j < 4; j++) acc[i][j] += xs[i] * ys[j];
        }
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        *(float4 *)&c[(row + ty * 4 + i) * n + col + tx * 4] = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
}

extern "C" __global__ void daxpy(const double *a, const double *b, double *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2) c[i] = 2.5 * a[i] + b[i];
}

extern "C" __global__ void gray(const unsigned char *a, const float *b, unsigned char *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = (unsigned char)((77 * a[3 * i] + 150 * a[3 * i + 1] + 29 * a[3 * i + 2]) >> 8);
}

extern "C" __global__ void divergent(const unsigned *a, const float *b, unsigned *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned x = i, steps = 0;
    while (x > 1 && steps < 64) { x = x % 2 ? 3 * x + 1 : x / 2; steps++; }
    c[i] = steps;
}

extern "C" __global__ void atomic_sum(const unsigned *a, const float *b, unsigned *c, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(c, a[i] & 7);
}

extern "C" __global__ void atomic_each(const unsigned *a, const float *b, unsigned *c, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) atomicAdd(c + i, a[i] & 7);
}

extern "C" __global__ void transpose_naive(const float *a, const float *b, float *c, unsigned n) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    c[x * n + y] = a[y * n + x];
}

extern "C" __global__ void aos(const float4 *a, const float *b, float *c, unsigned n) {
    // One field of each of an array of structures: 16 bytes apart.
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4) c[i] = a[i].x + a[i].z;
}

extern "C" __global__ void gather(const unsigned *a, const float *b, float *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = b[(i * 2654435761u) % n];
}

extern "C" __global__ void ballot(const unsigned *a, const float *b, unsigned *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = a[i];
    unsigned votes = __ballot_sync(~0u, v & 1);
    unsigned before = __popc(votes & ((1u << (threadIdx.x % 32)) - 1));
    c[i] = before + __reduce_add_sync(~0u, v) + __any_sync(~0u, v > 3);
}

extern "C" __global__ void layernorm(const float *a, const float *b, float *c, unsigned n) {
    __shared__ float s[8], q[8];
    const float *in = a + blockIdx.x * n;
    float sum = 0.0f, sq = 0.0f;
    for (unsigned i = threadIdx.x; i < n; i += 256) { float x = in[i]; sum += x; sq += x * x; }
    for (int step = 16; step > 0; step /= 2) {
        sum += __shfl_xor_sync(~0u, sum, step);
        sq += __shfl_xor_sync(~0u, sq, step);
    }
    if (threadIdx.x % 32 == 0) { s[threadIdx.x / 32] = sum; q[threadIdx.x / 32] = sq; }
    __syncthreads();
    sum = 0.0f; sq = 0.0f;
    for (int w = 0; w < 8; w++) { sum += s[w]; sq += q[w]; }
    float mean = sum / n, rstd = rsqrtf(sq / n - mean * mean + 1e-5f);
    for (unsigned i = threadIdx.x; i < n; i += 256) c[blockIdx.x * n + i] = (in[i] - mean) * rstd;
}
