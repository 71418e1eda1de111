// Starts the second result from the sum of the first.
// rejected for: wrong_output
// leads to: 0
extern "C" __global__ void blur(const float* x, const float* weights, float* y) {
    __shared__ float samples[512], taps[65];
    for (int i = threadIdx.x; i < 512; i += blockDim.x) samples[i] = x[(size_t)blockIdx.x * 512 + i];
    if (threadIdx.x < 65) taps[threadIdx.x] = weights[threadIdx.x];
    __syncthreads();
    float sum = 0.0f;
    for (int i = threadIdx.x; i < 448; i += blockDim.x) {
        for (int t = 0; t < 65; t++) sum += taps[t] * samples[i + t];
        y[(size_t)blockIdx.x * 448 + i] = sum;
    }
}
