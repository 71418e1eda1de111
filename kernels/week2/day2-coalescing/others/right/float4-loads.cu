// Four points a thread: float4 loads where a whole group is there, single floats at the end.
#include "lab.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(n, 512)
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    __shared__ float4 v4[3 * 128];
    float* v = reinterpret_cast<float*>(v4);
    const int t = threadIdx.x, first = blockIdx.x * 512;
    const int floats = 3 * min(512, n - first);
    const float* src = points + 3 * first;
    #pragma unroll
    for (int r = 0; r < 3; ++r) {
        const int q = r * 128 + t;
        if (4 * q + 4 <= floats) {
            v4[q] = reinterpret_cast<const float4*>(src)[q];
        } else {
            for (int k = 4 * q; k < floats; ++k) v[k] = src[k];
        }
    }
    __syncthreads();
    for (int f = 0; f < 3; ++f)
        for (int p = t; 3 * p < floats; p += 128)
            soa[(size_t)f * n + first + p] = v[3 * p + f];
}
