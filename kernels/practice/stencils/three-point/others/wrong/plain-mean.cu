// Takes the mean of the three.
// rejected for: wrong_output
// leads to: weight
extern "C" __global__ void smooth(const float* x, const float* weights, float* y, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (i < 298) {
        const float* s = x + row * 300 + i;
        y[row * 298 + i] = (s[0] + s[1] + s[2]) / 3;
    }
}
