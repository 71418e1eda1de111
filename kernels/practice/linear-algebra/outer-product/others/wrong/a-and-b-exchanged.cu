// Takes a by column and b by row.
// rejected for: out_of_bounds
// leads to: row with m
extern "C" __global__ void outer(const float* a, const float* b, float* c, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) c[(long long)row * n + column] = a[column] * b[row];
}
