// Every thread loads what it needs, 65 samples and 65 weights.
// does not reach: Each sample is loaded once
extern "C" __global__ void blur(const float* x, const float* weights, float* y) {
    for (int i = threadIdx.x; i < 448; i += blockDim.x) {
        float sum = 0.0f;
        for (int t = 0; t < 65; t++) sum += weights[t] * x[(size_t)blockIdx.x * 512 + i + t];
        y[(size_t)blockIdx.x * 448 + i] = sum;
    }
}
