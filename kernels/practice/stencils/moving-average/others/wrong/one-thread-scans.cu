// One thread makes all running sums, and nobody waits for it.
// rejected for: race
// leads to: barrier
extern "C" __global__ void moving_average(const float* x, const float* weights, float* y) {
    __shared__ float before[1001];
    if (threadIdx.x == 0) {
        before[0] = 0;
        for (int i = 0; i < 1000; i++) before[i + 1] = before[i] + x[(size_t)blockIdx.x * 1000 + i];
    }
    for (int i = threadIdx.x; i < 872; i += blockDim.x) y[(size_t)blockIdx.x * 872 + i] = weights[0] * (before[i + 129] - before[i]);
}
