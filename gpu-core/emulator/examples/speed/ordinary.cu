// More of what learners write, compiled for fast mathematics as much of it is, and not tuned on (but `pixels`, which
// showed slow conversions): what the others were tuned on must not be all that is fast. All take three buffers of n
// floats (read as what they need) and a number.
#include <cuda_fp16.h>

extern "C" __global__ void to_half(const float *a, const float *b, __half *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = __float2half(a[i] * 0.5f + 1.0f);
}

extern "C" __global__ void from_half(const __half *a, const float *b, float *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = __half2float(a[i]) * 2.0f + b[i];
}

extern "C" __global__ void rows_columns(const float *a, const float *b, float *c, unsigned n) {
    // A row's and a column's element for each, where the width is no power of two.
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, w = n / 1000;
    if (i < n) c[i] = a[i / w] + b[i % w];
}

extern "C" __global__ void pixels(const uchar4 *a, const float *b, uchar4 *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        uchar4 p = a[i];
        float grey = 0.299f * p.x + 0.587f * p.y + 0.114f * p.z, gain = 1.25f;
        float r = fminf(fmaxf(grey + gain * (p.x - grey), 0.0f), 255.0f);
        float g = fminf(fmaxf(grey + gain * (p.y - grey), 0.0f), 255.0f);
        float t = fminf(fmaxf(grey + gain * (p.z - grey), 0.0f), 255.0f);
        c[i] = make_uchar4(r, g, t, p.w);
    }
}

extern "C" __global__ void bilinear(const float *a, const float *b, float *c, unsigned n) {
    unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float u = x * 0.999f, v = y * 0.999f, fu = floorf(u), fv = floorf(v);
    unsigned i = (unsigned)fv * n + (unsigned)fu;
    u -= fu, v -= fv;
    if (x < n - 1 && y < n - 1)
        c[y * n + x] = (1 - v) * ((1 - u) * a[i] + u * a[i + 1]) + v * ((1 - u) * a[i + n] + u * a[i + n + 1]);
}

extern "C" __global__ void rmsnorm(const float *a, const float *b, float *c, unsigned n) {
    __shared__ float part[8];
    const float *in = a + blockIdx.x * n;
    float sum = 0.0f;
    for (unsigned i = threadIdx.x; i < n; i += 256) sum += in[i] * in[i];
    for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(~0u, sum, step);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int w = 0; w < 8; w++) sum += part[w];
    float scale = rsqrtf(sum / n + 1e-5f);
    for (unsigned i = threadIdx.x; i < n; i += 256) c[blockIdx.x * n + i] = in[i] * scale * b[i];
}

extern "C" __global__ void silu(const float *a, const float *b, float *c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] / (1.0f + expf(-a[i])) * b[i];
}

extern "C" __global__ void nbody(const float4 *a, const float *b, float4 *c, unsigned n) {
    __shared__ float4 tile[256];
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    float4 me = a[i];
    float x = 0, y = 0, z = 0;
    for (unsigned from = 0; from < n; from += 256) {
        tile[threadIdx.x] = a[from + threadIdx.x];
        __syncthreads();
        for (unsigned k = 0; k < 256; k++) {
            float4 o = tile[k];
            float dx = o.x - me.x, dy = o.y - me.y, dz = o.z - me.z;
            float r = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f), f = o.w * r * r * r;
            x += f * dx, y += f * dy, z += f * dz;
        }
        __syncthreads();
    }
    c[i] = make_float4(x, y, z, 0);
}

extern "C" __global__ void dot64(const double *a, const double *b, double *c, unsigned n) {
    __shared__ double part[256];
    double sum = 0;
    for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n / 2; i += gridDim.x * 256) sum += a[i] * b[i];
    part[threadIdx.x] = sum;
    for (unsigned step = 128; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    }
    if (threadIdx.x == 0) c[blockIdx.x] = part[0];
}
