// Clamps x and leaves y alone.
// rejected for: input_changed
// leads to: x
extern "C" __global__ void clamp_all(const float* x, float* y, float low, float high, int n) {
    float* writable = const_cast<float*>(x);
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) writable[i] = y[i] = fminf(fmaxf(x[i], low), high);
}
