#include "lab.cuh"

// Four columns a thread, with their means and scales in registers, and several rows in flight.
// lockstep: block = 64
// lockstep: grid = ceil_div(n, 4 * block_x), min(ceil_div(m, 32), 8192)

//@ clip
__device__ float clipped(float v, float mean, float scale, float low, float high)
{
    return fminf(fmaxf((v - mean) * scale, low), high);
}
//@ end

extern "C" __global__ void normalize_clip(
    const signed char* raw, const float* mean, const float* scale, float* y, int m, int n, float low, float high)
{
    const int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (n % 4 == 0) {
        if (4 * c >= n) {
            return;
        }
        const float4 a = reinterpret_cast<const float4*>(mean)[c];
        const float4 s = reinterpret_cast<const float4*>(scale)[c];
#pragma unroll 4
        for (int row = blockIdx.y; row < m; row += gridDim.y) {
            const long long i = (long long)row * (n / 4) + c;
            const char4 v = reinterpret_cast<const char4*>(raw)[i];
            reinterpret_cast<float4*>(y)[i] =
                make_float4(clipped(v.x, a.x, s.x, low, high), clipped(v.y, a.y, s.y, low, high),
                            clipped(v.z, a.z, s.z, low, high), clipped(v.w, a.w, s.w, low, high));
        }
    } else {
        for (int column = c; column < n; column += gridDim.x * blockDim.x) {
            const float mine = mean[column];
            const float factor = scale[column];
            for (int row = blockIdx.y; row < m; row += gridDim.y) {
                const long long i = (long long)row * n + column;
                y[i] = clipped(raw[i], mine, factor, low, high);
            }
        }
    }
}
