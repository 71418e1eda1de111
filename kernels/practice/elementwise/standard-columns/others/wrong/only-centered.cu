// Subtracts the mean and does not divide.
// rejected for: wrong_output
// leads to: std[column]
extern "C" __global__ void normalise(const float* x, const float* mean, const float* std, float* y, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float mu = mean[column];
    int last = min(m, (int)(blockIdx.y + 1) * 32);
    for (int row = blockIdx.y * 32; row < last; row++) y[row * n + column] = (x[row * n + column] - mu);
}
