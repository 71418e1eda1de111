// Begins one sample late.
// rejected for: out_of_bounds
// leads to: i, i + 1 and i + 2
extern "C" __global__ void smooth(const float* x, const float* weights, float* y, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (i < 298) {
        const float* s = x + row * 300 + i + 1;
        y[row * 298 + i] = weights[0] * s[0] + weights[1] * s[1] + weights[2] * s[2];
    }
}
