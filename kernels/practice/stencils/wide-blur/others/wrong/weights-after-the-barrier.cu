// Copies the weights after everybody has waited.
// rejected for: race
// leads to: __syncthreads()
extern "C" __global__ void blur(const float* x, const float* weights, float* y) {
    __shared__ float samples[512], taps[65];
    for (int i = threadIdx.x; i < 512; i += blockDim.x) samples[i] = x[(size_t)blockIdx.x * 512 + i];
    __syncthreads();
    if (threadIdx.x < 65) taps[threadIdx.x] = weights[threadIdx.x];
    for (int i = threadIdx.x; i < 448; i += blockDim.x) {
        float sum = 0.0f;
        for (int t = 0; t < 65; t++) sum += taps[t] * samples[i + t];
        y[(size_t)blockIdx.x * 448 + i] = sum;
    }
}
