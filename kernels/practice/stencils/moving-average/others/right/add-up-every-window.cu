// Every window is added up anew, from shared memory.
// does not reach: The width costs nothing
#define COLUMNS 1000
#define WINDOW 129
#define RESULTS (COLUMNS - WINDOW + 1)

extern "C" __global__ void moving_average(const float* x, const float* weights, float* y) {
    __shared__ float samples[COLUMNS];
    for (int i = threadIdx.x; i < COLUMNS; i += blockDim.x) samples[i] = x[(size_t)blockIdx.x * COLUMNS + i];
    __syncthreads();
    for (int i = threadIdx.x; i < RESULTS; i += blockDim.x) {
        float sum = 0.0f;
        for (int t = 0; t < WINDOW; t++) sum += samples[i + t];
        y[(size_t)blockIdx.x * RESULTS + i] = weights[0] * sum;
    }
}
