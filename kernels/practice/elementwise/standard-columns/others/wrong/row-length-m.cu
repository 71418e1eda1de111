// Takes the number of rows for the length of a row.
// rejected for: wrong_output
// leads to: row * n + column
extern "C" __global__ void normalise(const float* x, const float* mean, const float* std, float* y, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float mu = mean[column], s = std[column];
    int last = min(m, (int)(blockIdx.y + 1) * 32);
    for (int row = blockIdx.y * 32; row < last; row++) y[row * m + column] = (x[row * m + column] - mu) / s;
}
