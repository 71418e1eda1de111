// No shared memory.
// does not reach: Tiles
// does not reach: Squares in registers
extern "C" __global__ void batched_matmul(const float* a, const float* b, float* products, int m, int n, int k, int lda,
                                          int stride_a, int stride_b, int stride_c)
{
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) {
        return;
    }
    a += (long long)blockIdx.z * stride_a;
    b += (long long)blockIdx.z * stride_b;
    float sum = 0.0f;
    for (int d = 0; d < k; d++) {
        sum += a[row * lda + d] * b[d * n + column];
    }
    products[(long long)blockIdx.z * stride_c + row * n + column] = sum;
}
