// Forgets blockIdx.y.
// rejected for: race
// leads to: use blockIdx.y
extern "C" __global__ void outer(const float* a, const float* b, float* c, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = threadIdx.y;
    if (row < m && column < n) c[(long long)row * n + column] = a[row] * b[column];
}
