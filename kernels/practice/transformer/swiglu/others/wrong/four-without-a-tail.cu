// Four columns at a time; those that are left over in a row are forgotten.
// rejected for: wrong_output
// leads to: every column below n
// lockstep: swiglu.grid = ceil_div(n, 512), rows
extern "C" __global__ void swiglu(const float* x, float* hidden, int rows, int n) {
    int c = 4 * (blockIdx.x * blockDim.x + threadIdx.x);
    const float* g = x + (size_t)blockIdx.y * 2 * n;
    if (c + 3 >= n) return;
    for (int i = c; i < c + 4; i++) hidden[(size_t)blockIdx.y * n + i] = g[i] / (1.0f + expf(-g[i])) * g[n + i];
}
