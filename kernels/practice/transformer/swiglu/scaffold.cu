// x has rows of 2 * n numbers: n gates, then n up values. hidden has rows of n.
extern "C" __global__ void swiglu(const float* x, float* hidden, int rows, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y;
    if (row >= rows || column >= n) return;
    // TODO: silu of the gate, times the up value.
    hidden[(long long)row * n + column] = x[(long long)row * n + column];
}
