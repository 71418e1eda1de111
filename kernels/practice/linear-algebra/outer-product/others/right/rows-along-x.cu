// The grid's x goes down the rows: neighboring threads store n floats apart.
// does not reach: Whole sectors
// does not reach: Loads that serve many
// lockstep: grid = ceil_div(m, 32), ceil_div(n, 8)
extern "C" __global__ void outer(const float* a, const float* b, float* c, int m, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    int column = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) c[(long long)row * n + column] = a[row] * b[column];
}
