// Four bytes a load, four floats a store, where n is a multiple of four.
#include "lab.cuh"
extern "C" __global__ void gather_batch(const signed char* raw, const float* mean, const float* scale, const int* chosen, float* y, int batch, int n)
{
    const int r = blockIdx.x;
    const signed char* p = raw + (long long)chosen[r] * n;
    float* o = y + (long long)r * n;
    if (n % 4 == 0) for (int q = threadIdx.x; q < n / 4; q += blockDim.x) {
        const char4 v = reinterpret_cast<const char4*>(p)[q];
        const float4 m = reinterpret_cast<const float4*>(mean)[q], s = reinterpret_cast<const float4*>(scale)[q];
        reinterpret_cast<float4*>(o)[q] = make_float4((v.x - m.x) * s.x, (v.y - m.y) * s.y, (v.z - m.z) * s.z, (v.w - m.w) * s.w);
    } else for (int c = threadIdx.x; c < n; c += blockDim.x) o[c] = (p[c] - mean[c]) * scale[c];
}
