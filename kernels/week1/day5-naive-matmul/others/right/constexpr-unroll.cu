// A template with a fold over four.
#include "lab.cuh"
template <int... I> struct Seq {};
template <int... I> __device__ float four(const float* a, const float* b, int n, Seq<I...>) { return ((a[I] * b[I * n]) + ...); }
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && column < n) {
        float sum = 0;
        int i = 0;
        for (; i + 4 <= k; i += 4) sum += four(a + row * k + i, b + i * n + column, n, Seq<0, 1, 2, 3>{});
        for (; i < k; ++i) sum += four(a + row * k + i, b + i * n + column, n, Seq<0>{});
        c[row * n + column] = sum;
    }
}
