// Leaves out the last column.
// rejected for: wrong_output
// leads to: every column below n
extern "C" __global__ void swiglu(const float* x, float* hidden, int rows, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (row >= rows || column >= n - 1) return;
    const float* from = x + (long long)row * 2 * n;
    float gate = from[column];
    hidden[(long long)row * n + column] = gate / (1.0f + __expf(-gate)) * from[n + column];
}
