// Forgets the block's number.
// rejected for: first_block_only
// leads to: block
extern "C" __global__ void clamp_all(const float* x, float* y, float low, float high, int n) {
    int i = threadIdx.x;
    if (i < n) y[i] = fminf(fmaxf(x[i], low), high);
}
