// Stores c column by column.
// rejected for: transposed_output
// leads to: rows and columns are exchanged
extern "C" __global__ void outer(const float* a, const float* b, float* c, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) c[(long long)column * m + row] = a[row] * b[column];
}
