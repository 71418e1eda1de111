// A warp for 64 elements, lane by lane, by PTX.
#include "lab.cuh"
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    unsigned lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    for (int e = lane; e < 64; e += 32) {
        const int i = 64 * warp + e;
        if (i < n) asm volatile("{ .reg .f32 x, y; ld.global.nc.f32 x, [%0]; ld.global.nc.f32 y, [%1]; add.rn.f32 x, x, y; st.global.cs.f32 [%2], x; }" :: "l"(a + i), "l"(b + i), "l"(c + i) : "memory");
    }
}
