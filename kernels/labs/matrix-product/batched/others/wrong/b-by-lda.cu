// Rows of B as long as lda.
// rejected for: out_of_bounds
// leads to: past its end
#include "lab.cuh"
// lockstep: batched_matmul.block = 256
// lockstep: batched_matmul.grid = ceil_div(m * n, block_x), 1, batch
// A thread an element, no tiles.
extern "C" __global__ void batched_matmul(const float* a, const float* b, float* products, int m, int n, int k, int lda, int stride_a, int stride_b, int stride_c)
{
    const int e = blockIdx.x * blockDim.x + threadIdx.x, z = blockIdx.z;
    if (e >= m * n) return;
    const int row = e / n, column = e % n;
    const float* from_a = a + (size_t)z * stride_a + (size_t)row * lda;
    const float* from_b = b + (size_t)z * stride_b + column;
    float sum = 0.0f;
    for (int d = 0; d < k; d++) sum = fmaf(from_a[d], from_b[(size_t)d * lda], sum);
    products[(size_t)z * stride_c + e] = sum;
}
