// Clamps the magnitude.
// rejected for: wrong_output
// leads to: first element that is wrong
extern "C" __global__ void clamp_all(const float* x, float* y, float low, float high, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = fminf(fabsf(x[i]), high);
}
