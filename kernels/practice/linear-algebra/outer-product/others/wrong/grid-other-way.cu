// Rows from x and columns from y, in the grid of the scaffold.
// rejected for: never_written
// leads to: never written
extern "C" __global__ void outer(const float* a, const float* b, float* c, int m, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) c[(long long)row * n + column] = a[row] * b[column];
}
