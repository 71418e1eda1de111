// Keeps the place in 16 bits, which go round at 65,536.
// rejected for: wrong_output
// leads to: 16 bits
extern "C" __global__ void smooth(const float* x, const float* weights, float* y, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (i < 298) {
        const float* s = x + (unsigned short)(row * 300 + i);
        y[row * 298 + i] = weights[0] * s[0] + weights[1] * s[1] + weights[2] * s[2];
    }
}
