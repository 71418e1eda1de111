// Loads and store in PTX, predicated.
#include "lab.cuh"

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = 0, y = 0;
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %2, %3; @p ld.global.nc.f32 %0, [%4]; @p ld.global.nc.f32 %1, [%5]; }"
                 : "+f"(x), "+f"(y) : "r"(i), "r"(n), "l"(__cvta_generic_to_global(a + i)), "l"(__cvta_generic_to_global(b + i)));
    asm volatile("{ .reg .pred p; setp.lt.s32 p, %0, %1; @p st.global.f32 [%2], %3; }"
                 :: "r"(i), "r"(n), "l"(__cvta_generic_to_global(c + i)), "f"(x + y) : "memory");
}
