extern "C" __global__ void swiglu(const float* x, float* hidden, int rows, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (row >= rows || column >= n) return;
    const float* from = x + (long long)row * 2 * n;
    hidden[(long long)row * n + column] = from[n + column] / (1.0f + expf(-from[column]));
}
