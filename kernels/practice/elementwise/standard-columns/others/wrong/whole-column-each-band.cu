// Every band goes through the whole column: all do the same work.
// rejected for: race
// leads to: band
extern "C" __global__ void normalise(const float* x, const float* mean, const float* std, float* y, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float mu = mean[column], s = std[column];
    for (int row = 0; row < m; row++) y[row * n + column] = (x[row * n + column] - mu) / s;
}
