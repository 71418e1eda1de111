// TODO: the weighted sum of three neighbors. So far each result is its first sample.
extern "C" __global__ void smooth(const float* x, const float* weights, float* y, int rows) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (i < 298) y[row * 298 + i] = x[row * 300 + i];
}
