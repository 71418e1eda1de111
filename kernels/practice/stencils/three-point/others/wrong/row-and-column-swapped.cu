// Takes blockIdx.x for the row.
// rejected for: out_of_bounds
// leads to: blockIdx.y
extern "C" __global__ void smooth(const float* x, const float* weights, float* y, int rows) {
    int i = blockIdx.y * blockDim.x + threadIdx.x;
    int row = blockIdx.x;
    if (i < 298) {
        const float* s = x + row * 300 + i;
        y[row * 298 + i] = weights[0] * s[0] + weights[1] * s[1] + weights[2] * s[2];
    }
}
