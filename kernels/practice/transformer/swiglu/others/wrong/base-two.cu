// Takes 2 to the power of -g.
// rejected for: wrong_output
// leads to: to base e
extern "C" __global__ void swiglu(const float* x, float* hidden, int rows, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (row >= rows || column >= n) return;
    const float* from = x + (long long)row * 2 * n;
    float gate = from[column];
    hidden[(long long)row * n + column] = gate / (1.0f + exp2f(-gate)) * from[n + column];
}
