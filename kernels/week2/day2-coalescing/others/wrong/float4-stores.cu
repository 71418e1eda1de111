// Stores float4 into rows that are not aligned for it.
// rejected for: misaligned
// leads to: A pointer to `float4` counts in steps
#include "lab.cuh"
// lockstep: block = 64
// lockstep: grid = ceil_div(n, 256)
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    __shared__ float s[768];
    const int first = blockIdx.x * 256, t = threadIdx.x;
    for (int k = t; k < 768 && 3 * first + k < 3 * n; k += 64) s[k] = points[3 * first + k];
    __syncthreads();
    const int p = first + 4 * t;
    for (int f = 0; f < 3; f++) {
        if (p + 3 < n) {
            const float* q = &s[12 * t + f];
            *reinterpret_cast<float4*>(&soa[f * n + p]) = make_float4(q[0], q[3], q[6], q[9]);
        } else {
            for (int k = 0; p + k < n; k++) soa[f * n + p + k] = s[12 * t + 3 * k + f];
        }
    }
}
