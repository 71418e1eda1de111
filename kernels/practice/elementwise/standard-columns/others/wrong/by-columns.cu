// Takes the table for one that is stored column by column.
// rejected for: wrong_output
// leads to: row * n + column
extern "C" __global__ void normalise(const float* x, const float* mean, const float* std, float* y, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float mu = mean[column], s = std[column];
    for (int row = blockIdx.y * 32; row < min(m, (int)blockIdx.y * 32 + 32); row++) y[column * m + row] = (x[column * m + row] - mu) / s;
}
