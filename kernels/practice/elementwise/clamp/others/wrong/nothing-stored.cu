// Keeps the result in a register.
// rejected for: nothing_written
// leads to: y
extern "C" __global__ void clamp_all(const float* x, float* y, float low, float high, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = i < n ? x[i] : 0.0f;
    v = fminf(fmaxf(v, low), high);
}
