// Pairs the weights with the samples the other way round.
// rejected for: wrong_output
// leads to: which weight goes with which sample
extern "C" __global__ void smooth(const float* x, const float* weights, float* y, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (i < 298) {
        const float* s = x + row * 300 + i;
        y[row * 298 + i] = weights[2] * s[0] + weights[1] * s[1] + weights[0] * s[2];
    }
}
