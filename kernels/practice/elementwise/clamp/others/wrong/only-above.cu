// Forgets the lower bound.
// rejected for: wrong_output
// leads to: below low
extern "C" __global__ void clamp_all(const float* x, float* y, float low, float high, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fminf(x[i], high);
}
