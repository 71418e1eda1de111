extern "C" __global__ void swiglu(const float* x, float* hidden, int rows, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    const float* from = x + (long long)row * 2 * n;
    float gate = from[column];
    hidden[(long long)row * n + column] = gate / (1.0f + expf(-gate)) * from[n + column];
}
