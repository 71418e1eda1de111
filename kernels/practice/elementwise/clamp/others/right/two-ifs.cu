// A store in every branch.
// does not reach: No warp splits
extern "C" __global__ void clamp_all(const float* x, float* y, float low, float high, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    if (v < low) {
        y[i] = low;
    } else if (v > high) {
        y[i] = high;
    } else {
        y[i] = v;
    }
}
