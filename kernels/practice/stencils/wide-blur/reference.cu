// A block for each row. The row and the weights are copied to shared memory once. A thread makes four results, 112
// apart, so that each weight is read once for four products and neighboring threads read neighboring words.
//@ kernel
#define COLUMNS 512
#define TAPS 65
#define RESULTS 448
#define EACH 4

// lockstep: block = 112
extern "C" __global__ void blur(const float* x, const float* weights, float* y) {
    __shared__ float samples[COLUMNS], taps[TAPS];
    for (int i = threadIdx.x; i < COLUMNS; i += blockDim.x) samples[i] = x[(size_t)blockIdx.x * COLUMNS + i];
    for (int i = threadIdx.x; i < TAPS; i += blockDim.x) taps[i] = weights[i];
    __syncthreads();
    float sums[EACH] = {};
    for (int t = 0; t < TAPS; t++) {
        float weight = taps[t];
        for (int e = 0; e < EACH; e++) sums[e] += weight * samples[threadIdx.x + e * (RESULTS / EACH) + t];
    }
    for (int e = 0; e < EACH; e++) y[(size_t)blockIdx.x * RESULTS + threadIdx.x + e * (RESULTS / EACH)] = sums[e];
}
//@ end
