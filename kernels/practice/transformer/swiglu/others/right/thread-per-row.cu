// A thread for each row, as a loop over rows on a CPU would have it.
// does not reach: Whole sectors
// lockstep: swiglu.grid = ceil_div(rows, 128)
// lockstep: swiglu.block = 128
extern "C" __global__ void swiglu(const float* x, float* hidden, int rows, int n) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    for (int column = 0; column < n; column++) {
        float gate = x[(long long)row * 2 * n + column];
        float up = x[(long long)row * 2 * n + n + column];
        hidden[(long long)row * n + column] = up * gate / (1.0f + expf(-gate));
    }
}
