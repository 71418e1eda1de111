// Compares with less or equal.
// rejected for: out_of_bounds
// leads to: i < n
extern "C" __global__ void clamp_all(const float* x, float* y, float low, float high, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= n) y[i] = fminf(fmaxf(x[i], low), high);
}
