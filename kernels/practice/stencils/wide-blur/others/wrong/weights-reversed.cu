// Pairs the weights with the samples the other way round.
// rejected for: wrong_output
// leads to: weights[t] * samples[i + t]
extern "C" __global__ void blur(const float* x, const float* weights, float* y) {
    __shared__ float samples[512], taps[65];
    for (int i = threadIdx.x; i < 512; i += blockDim.x) samples[i] = x[(size_t)blockIdx.x * 512 + i];
    if (threadIdx.x < 65) taps[threadIdx.x] = weights[threadIdx.x];
    __syncthreads();
    for (int i = threadIdx.x; i < 448; i += blockDim.x) {
        float sum = 0.0f;
        for (int t = 0; t < 65; t++) sum += taps[64 - t] * samples[i + t];
        y[(size_t)blockIdx.x * 448 + i] = sum;
    }
}
