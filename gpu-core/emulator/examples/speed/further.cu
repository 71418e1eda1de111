// More ordinary kernels, chosen before any of them was timed. All take three buffers of n floats (read as what they need)
// and a number.
#include <cuda_fp16.h>

extern "C" __global__ void bitonic(const unsigned *a, const float *b, unsigned *c, unsigned n) {
    __shared__ unsigned s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = a[i] * 2654435761u + i * 40503u;
    __syncthreads();
    for (unsigned k = 2; k <= 256; k *= 2)
        for (unsigned j = k / 2; j > 0; j /= 2) {
            unsigned o = t ^ j;
            if (o > t) {
                unsigned x = s[t], y = s[o];
                if ((x > y) == ((t & k) == 0)) s[t] = y, s[o] = x;
            }
            __syncthreads();
        }
    c[i] = s[t];
}

extern "C" __global__ void prefix(const float *a, const float *b, float *c, unsigned n) {
    // Sums within warps by shuffles, then of the warps.
    __shared__ float sums[8];
    unsigned t = threadIdx.x, i = blockIdx.x * 256 + t, lane = t % 32, warp = t / 32;
    float v = a[i];
    for (int d = 1; d < 32; d *= 2) {
        float o = __shfl_up_sync(~0u, v, d);
        if (lane >= d) v += o;
    }
    if (lane == 31) sums[warp] = v;
    __syncthreads();
    if (warp == 0) {
        float w = lane < 8 ? sums[lane] : 0.0f;
        for (int d = 1; d < 8; d *= 2) {
            float o = __shfl_up_sync(~0u, w, d);
            if (lane >= d) w += o;
        }
        if (lane < 8) sums[lane] = w;
    }
    __syncthreads();
    c[i] = v + (warp ? sums[warp - 1] : 0.0f);
}

extern "C" __global__ void convolve(const float *a, const float *b, float *c, unsigned n) {
    // 5 x 5 with a halo in shared memory, blocks of 16 x 16.
    __shared__ float s[20][20];
    int tx = threadIdx.x % 16, ty = threadIdx.x / 16, side = 1024;
    int x0 = (blockIdx.x % 64) * 16 - 2, y0 = (blockIdx.x / 64) * 16 - 2;
    for (int e = threadIdx.x; e < 400; e += 256) {
        int x = x0 + e % 20, y = y0 + e / 20;
        s[e / 20][e % 20] = x >= 0 && y >= 0 && x < side && y < side ? a[y * side + x] : 0.0f;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int dy = 0; dy < 5; dy++) for (int dx = 0; dx < 5; dx++) sum += s[ty + dy][tx + dx] * b[dy * 5 + dx];
    c[(y0 + 2 + ty) * side + x0 + 2 + tx] = sum;
}

extern "C" __global__ void gemv(const float *a, const float *b, float *c, unsigned n) {
    // One warp a row.
    unsigned row = (blockIdx.x * 256 + threadIdx.x) / 32, lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (unsigned i = lane; i < n; i += 32) sum += a[row * n + i] * b[i];
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (lane == 0) c[row] = sum;
}

extern "C" __global__ void fft(const float2 *a, const float *b, float2 *c, unsigned n) {
    // 512 points by 256 threads.
    __shared__ float2 s[512];
    unsigned t = threadIdx.x, from = blockIdx.x * 512;
    s[__brev(t) >> 23] = a[from + t];
    s[__brev(t + 256) >> 23] = a[from + t + 256];
    for (unsigned half = 1; half < 512; half *= 2) {
        __syncthreads();
        unsigned k = t % half, i = (t / half) * 2 * half + k;
        float si, co;
        __sincosf(-3.14159265f * k / half, &si, &co);
        float2 x = s[i], y = s[i + half];
        float2 z = make_float2(y.x * co - y.y * si, y.x * si + y.y * co);
        s[i] = make_float2(x.x + z.x, x.y + z.y);
        s[i + half] = make_float2(x.x - z.x, x.y - z.y);
    }
    __syncthreads();
    c[from + t] = s[t];
    c[from + t + 256] = s[t + 256];
}

__device__ float normal(float d) {
    float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
    float p = 0.39894228f * expf(-0.5f * d * d) *
              (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
    return d > 0 ? 1.0f - p : p;
}

extern "C" __global__ void black_scholes(const float *a, const float *b, float *c, unsigned n) {
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) {
        float price = a[i] + 10.0f, strike = b[i] + 9.0f, years = 1.5f, rate = 0.02f, vol = 0.3f;
        float root = sqrtf(years), d1 = (logf(price / strike) + (rate + 0.5f * vol * vol) * years) / (vol * root);
        c[i] = price * normal(d1) - strike * expf(-rate * years) * normal(d1 - vol * root);
    }
}

extern "C" __global__ void monte_carlo(const unsigned *a, const float *b, float *c, unsigned n) {
    unsigned i = blockIdx.x * 256 + threadIdx.x, x = a[i] * 747796405u + i + 1, inside = 0;
    for (int k = 0; k < 32; k++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        float u = (x >> 8) * (1.0f / 16777216.0f);
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        float v = (x >> 8) * (1.0f / 16777216.0f);
        inside += u * u + v * v < 1.0f;
    }
    c[i] = inside * (4.0f / 32.0f);
}

extern "C" __global__ void box_muller(const unsigned *a, const float *b, float *c, unsigned n) {
    unsigned i = blockIdx.x * 256 + threadIdx.x, x = a[i] * 747796405u + i + 1;
    float sum = 0.0f;
    for (int k = 0; k < 8; k++) {
        x = x * 1664525u + 1013904223u;
        float u = ((x >> 9) + 1) * (1.0f / 8388608.0f);
        x = x * 1664525u + 1013904223u;
        float v = (x >> 9) * (1.0f / 8388608.0f);
        sum += sqrtf(-2.0f * logf(u)) * cosf(6.2831853f * v);
    }
    c[i] = sum;
}

extern "C" __global__ void gemm_int8(const int *a, const int *b, int *c, unsigned n) {
    // n x n of dp4a: rows of a and of b (transposed) hold n / 4 words.
    __shared__ int as[16][17], bs[16][17];
    unsigned tx = threadIdx.x % 16, ty = threadIdx.x / 16, words = n / 4, tiles = n / 16;
    unsigned row = blockIdx.x / tiles * 16, col = blockIdx.x % tiles * 16;
    int sum = 0;
    for (unsigned k = 0; k < words; k += 16) {
        as[ty][tx] = a[(row + ty) * words + k + tx];
        bs[ty][tx] = b[(col + ty) * words + k + tx];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum = __dp4a(as[ty][j], bs[tx][j], sum);
        __syncthreads();
    }
    c[(row + ty) * n + col + tx] = sum;
}

extern "C" __global__ void gemm_half(const __half *a, const __half *b, __half *c, unsigned n) {
    __shared__ __half as[16][18], bs[16][18];
    unsigned tx = threadIdx.x % 16, ty = threadIdx.x / 16, tiles = n / 16;
    unsigned row = blockIdx.x / tiles * 16 + ty, col = blockIdx.x % tiles * 16 + tx;
    float sum = 0.0f;
    for (unsigned k = 0; k < n; k += 16) {
        as[ty][tx] = a[row * n + k + tx];
        bs[ty][tx] = b[(k + ty) * n + col];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += __half2float(as[ty][j]) * __half2float(bs[j][tx]);
        __syncthreads();
    }
    c[row * n + col] = __float2half(sum);
}

extern "C" __global__ void stencil3d(const float *a, const float *b, float *c, unsigned n) {
    // 64^3 per 262144 words.
    unsigned i = blockIdx.x * 256 + threadIdx.x, x = i % 64, y = i / 64 % 64, z = i / 4096 % 64;
    if (x > 0 && x < 63 && y > 0 && y < 63 && z > 0 && z < 63)
        c[i] = 0.4f * a[i] + 0.1f * (a[i - 1] + a[i + 1] + a[i - 64] + a[i + 64] + a[i - 4096] + a[i + 4096]);
}

extern "C" __global__ void softmax_block(const float *a, const float *b, float *c, unsigned n) {
    __shared__ float s[256];
    const float *in = a + blockIdx.x * n;
    unsigned t = threadIdx.x;
    float top = -1e30f;
    for (unsigned i = t; i < n; i += 256) top = fmaxf(top, in[i]);
    s[t] = top;
    for (unsigned d = 128; d > 0; d /= 2) { __syncthreads(); if (t < d) s[t] = fmaxf(s[t], s[t + d]); }
    __syncthreads();
    top = s[0];
    __syncthreads();
    float sum = 0.0f;
    for (unsigned i = t; i < n; i += 256) sum += expf(in[i] - top);
    s[t] = sum;
    for (unsigned d = 128; d > 0; d /= 2) { __syncthreads(); if (t < d) s[t] += s[t + d]; }
    __syncthreads();
    float scale = 1.0f / s[0];
    for (unsigned i = t; i < n; i += 256) c[blockIdx.x * n + i] = expf(in[i] - top) * scale;
}

extern "C" __global__ void mandelbrot(const float *a, const float *b, int *c, unsigned n) {
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    float cr = (i % 512) * (3.0f / 512) - 2.0f, ci = (i / 512) * (2.0f / 512) - 1.0f, x = 0, y = 0;
    int k = 0;
    for (; k < 64 && x * x + y * y < 4.0f; k++) { float t = x * x - y * y + cr; y = 2 * x * y + ci; x = t; }
    c[i] = k;
}
