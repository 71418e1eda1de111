// Forgets the parentheses: only the mean is divided.
// rejected for: wrong_output
// leads to: (x[i] - mean[column]) / std[column]
extern "C" __global__ void normalise(const float* x, const float* mean, const float* std, float* y, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    for (int row = blockIdx.y * 32; row < min(m, (int)blockIdx.y * 32 + 32); row++) y[row * n + column] = x[row * n + column] - mean[column] / std[column];
}
