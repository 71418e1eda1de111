// Makes a result for each sample.
// rejected for: race
// leads to: 298
extern "C" __global__ void smooth(const float* x, const float* weights, float* y, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (i < 300) {
        const float* s = x + row * 300 + i;
        y[row * 298 + i] = weights[0] * s[0] + weights[1] * s[1] + weights[2] * s[2];
    }
}
