// The type of the toolkit, the instruction by hand, two warps.
#include <cuda_bf16.h>
#include "lab.cuh"
// lockstep: block = 64
// lockstep: grid = ceil_div(n, 16), ceil_div(m, 16)
template <typename T> __device__ unsigned two(const T* p, int row, int x, int rows, int k)
{
    T v[2] = {T(0.0f), T(0.0f)};
    if (row < rows) {
        if (x < k) v[0] = p[(size_t)row * k + x];
        if (x + 1 < k) v[1] = p[(size_t)row * k + x + 1];
    }
    return *reinterpret_cast<unsigned*>(v);
}
extern "C" __global__ void mma_tile(const __nv_bfloat16* __restrict__ a, const __nv_bfloat16* __restrict__ b, float* __restrict__ c, int m, int n, int k)
{
    const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, g = lane >> 2, t = lane & 3;
    const int r0 = blockIdx.y * 16, c0 = blockIdx.x * 16 + warp * 8;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    for (int x = 2 * t; x - 2 * t < k; x += 16)
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
            : "r"(two(a, r0 + g, x, m, k)), "r"(two(a, r0 + g + 8, x, m, k)), "r"(two(a, r0 + g, x + 8, m, k)), "r"(two(a, r0 + g + 8, x + 8, m, k)),
              "r"(two(b, c0 + g, x, n, k)), "r"(two(b, c0 + g, x + 8, n, k)));
    auto put = [&](int r, int q, float v) { if (r < m && q < n) c[(size_t)r * n + q] = v; };
    put(r0 + g, c0 + 2 * t, d0);
    put(r0 + g, c0 + 2 * t + 1, d1);
    put(r0 + g + 8, c0 + 2 * t, d2);
    put(r0 + g + 8, c0 + 2 * t + 1, d3);
}
