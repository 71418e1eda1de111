// Where n is a multiple of four it takes four at once, and forgets the upper bound there.
// rejected for: wrong_output
// leads to: x[i]
extern "C" __global__ void clamp_all(const float* x, float* y, float low, float high, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (n % 4 == 0) {
        if (4 * i >= n) return;
        float4 v = ((const float4*)x)[i];
        ((float4*)y)[i] = make_float4(fmaxf(v.x, low), fmaxf(v.y, low), fmaxf(v.z, low), fmaxf(v.w, low));
    } else if (i < n) {
        y[i] = fminf(fmaxf(x[i], low), high);
    }
}
