// Multiply-adds in PTX, loads by __ldg.
#include "lab.cuh"
__device__ __forceinline__ float fma_ptx(float x, float y, float z)
{
    float r;
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(x), "f"(y), "f"(z));
    return r;
}
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int rows, int inner, int columns)
{
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) {
            float sum = 0.0f;
            for (int k = 0; k < inner; k++) sum = fma_ptx(__ldg(&a[i * inner + k]), __ldg(&b[k * columns + j]), sum);
            c[i * columns + j] = sum;
        }
}
