// TODO: the logarithm of the sum of the exponentials of each row. So far thread 0 reports the first score.
extern "C" __global__ void log_sum_exp(const float* x, float* y, int n) {
    if (threadIdx.x == 0) y[blockIdx.x] = x[(size_t)blockIdx.x * n];
}
