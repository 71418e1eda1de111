// Float4 both ways through shared memory; a thread reads four neighboring points, with a stride of 12.
// does not reach: Nine tenths of a copy
#include "lab.cuh"
// lockstep: block = 128
// lockstep: grid = ceil_div(n, 512)
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    __shared__ __align__(16) float s[3 * 512];
    const int base = blockIdx.x * 512, t = threadIdx.x;
    for (int e = t; e < 3 * 512 && 3 * base + e < 3 * n; e += 128) s[e] = points[3 * base + e];
    __syncthreads();
    const int p = base + 4 * t;
    for (int f = 0; f < 3; ++f) {
        if (p + 3 < n && n % 4 == 0) {
            const float* q = s + 12 * t + f;
            *reinterpret_cast<float4*>(soa + f * n + p) = make_float4(q[0], q[3], q[6], q[9]);
        } else {
            for (int k = 0; k < 4 && p + k < n; ++k) soa[f * n + p + k] = s[12 * t + 3 * k + f];
        }
    }
}
