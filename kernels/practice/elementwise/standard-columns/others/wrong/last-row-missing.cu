// Stops one row early in each band.
// rejected for: never_written
// leads to: next block's first row
extern "C" __global__ void normalise(const float* x, const float* mean, const float* std, float* y, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float mu = mean[column], s = std[column];
    int last = min(m, (int)(blockIdx.y + 1) * 32);
    for (int row = blockIdx.y * 32; row < last - 1; row++) y[row * n + column] = (x[row * n + column] - mu) / s;
}
