// TODO: mean and variance of each row. So far thread 0 reports the first element as the mean and no variance.
extern "C" __global__ void mean_and_variance(const float* x, float* mean, float* variance, int n) {
    const float* row = x + (size_t)blockIdx.x * n;
    if (threadIdx.x == 0) {
        mean[blockIdx.x] = row[0];
        variance[blockIdx.x] = 0.0f;
    }
}
