// One thread an element.
// does not reach: Each row once
// does not reach: In registers
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    const int column = blockIdx.y * blockDim.x + threadIdx.x;
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row < m && column < n) {
        float sum = 0.0f;
        for (int d = 0; d < k; d++) {
            sum += a[(long long)row * k + d] * b[d * n + column];
        }
        c[(long long)row * n + column] = sum;
    }
}
