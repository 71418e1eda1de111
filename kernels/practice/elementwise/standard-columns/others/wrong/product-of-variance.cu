// Takes std for the variance and divides by its root.
// rejected for: wrong_output
// leads to: std[column]
extern "C" __global__ void normalise(const float* x, const float* mean, const float* std, float* y, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float mu = mean[column], s = sqrtf(std[column]);
    for (int row = blockIdx.y * 32; row < min(m, (int)blockIdx.y * 32 + 32); row++) y[row * n + column] = (x[row * n + column] - mu) / s;
}
