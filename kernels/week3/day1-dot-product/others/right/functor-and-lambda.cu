// A templated reduction over any group of lanes, with a lambda for the products.
#include "lab.cuh"
#include <cuda_bf16.h>
// lockstep: block = 128
// lockstep: grid = min(ceil_div(n, 16), 40)
template <int LANES> struct Group {
    static_assert((LANES & (LANES - 1)) == 0, "a power of two");
    template <class F> __device__ static float total(F&& f, int count) {
        float s = 0.f;
        for (int i = threadIdx.x % LANES; i < count; i += LANES) s += f(i);
#pragma unroll
        for (int o = LANES / 2; o; o /= 2) s += __shfl_xor_sync(~0u, s, o, LANES);
        return s;
    }
};
extern "C" __global__ void dot_scores(const __nv_bfloat16* q, const __nv_bfloat16* keys, float* scores, int n, int d)
{
    constexpr int L = 8;
    const int groups = gridDim.x * (blockDim.x / L);
    const int first = blockIdx.x * (blockDim.x / L) + threadIdx.x / L;
    for (int base = 0; base < n; base += groups) {
        const int key = base + first;
        const int mine = min(key, n - 1);
        const float s = Group<L>::total([&](int i) { return float(q[i]) * float(keys[(long)mine * d + i]); }, d);
        if (key < n && threadIdx.x % L == 0) scores[key] = s;
    }
}
