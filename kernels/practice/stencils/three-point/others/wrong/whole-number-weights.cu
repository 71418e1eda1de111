// Writes the weights down as whole numbers, so their quotients are 0.
// rejected for: wrong_output
// leads to: 1 / 8
extern "C" __global__ void smooth(const float* x, const float* weights, float* y, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (i < 298) {
        const float* s = x + row * 300 + i;
        y[row * 298 + i] = 1 / 8 * s[0] + 3 / 8 * s[1] + 1 / 2 * s[2];
    }
}
