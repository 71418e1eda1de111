// Swaps the two directions of the grid.
// rejected for: never_written
// leads to: grid
extern "C" __global__ void normalise(const float* x, const float* mean, const float* std, float* y, int m, int n) {
    int column = blockIdx.y * blockDim.x + threadIdx.x;
    if (column >= n) return;
    for (int row = blockIdx.x * 32; row < min(m, (int)blockIdx.x * 32 + 32); row++) y[row * n + column] = (x[row * n + column] - mean[column]) / std[column];
}
