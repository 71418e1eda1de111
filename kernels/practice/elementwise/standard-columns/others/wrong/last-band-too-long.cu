// Takes every band for 32 rows.
// rejected for: out_of_bounds
// leads to: last band
extern "C" __global__ void normalise(const float* x, const float* mean, const float* std, float* y, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float mu = mean[column], s = std[column];
    for (int k = 0; k < 32; k++) {
        int i = (blockIdx.y * 32 + k) * n + column;
        y[i] = (x[i] - mu) / s;
    }
}
