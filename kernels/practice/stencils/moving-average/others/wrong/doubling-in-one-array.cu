// Running sums by doubling, in one array with one barrier a round.
// rejected for: race
// leads to: barrier
// lockstep: block = 1024
extern "C" __global__ void moving_average(const float* x, const float* weights, float* y) {
    __shared__ float sums[1024];
    int t = threadIdx.x;
    sums[t] = t > 0 && t <= 1000 ? x[blockIdx.x * 1000 + t - 1] : 0.0f;
    __syncthreads();
    for (int d = 1; d < 1024; d *= 2) {
        if (t >= d) sums[t] += sums[t - d];
        __syncthreads();
    }
    if (t < 872) y[blockIdx.x * 872 + t] = (sums[t + 129] - sums[t]) * weights[0];
}
