// Four floats at once where a row is a multiple of four.
#include "lab.cuh"
extern "C" __global__ void embed(const float* table, const int* ids, const float* positions, float* x, int sequences, int length, int d)
{
    const int token = blockIdx.x, place = token % length;
    const float* a = table + (long long)ids[token] * d;
    const float* b = positions + (long long)place * d;
    float* o = x + (long long)token * d;
    if (d % 4 == 0) {
        for (int q = threadIdx.x; q < d / 4; q += blockDim.x) {
            float4 u = reinterpret_cast<const float4*>(a)[q], v = reinterpret_cast<const float4*>(b)[q];
            u.x += v.x; u.y += v.y; u.z += v.z; u.w += v.w;
            reinterpret_cast<float4*>(o)[q] = u;
        }
    } else for (int c = threadIdx.x; c < d; c += blockDim.x) o[c] = a[c] + b[c];
}
