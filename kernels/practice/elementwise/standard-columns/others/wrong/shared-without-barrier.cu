// One warp reads the columns' numbers for all, and nobody waits for it.
// rejected for: race
// leads to: __syncthreads()
// lockstep: block = 32, 8
extern "C" __global__ void normalise(const float* x, const float* mean, const float* std, float* y, int m, int n) {
    __shared__ float mu[32], s[32];
    int column = blockIdx.x * 32 + threadIdx.x;
    if (threadIdx.y == 0 && column < n) mu[threadIdx.x] = mean[column], s[threadIdx.x] = std[column];
    for (int row = blockIdx.y * 32 + threadIdx.y; row < min(m, (int)blockIdx.y * 32 + 32); row += 8)
        if (column < n) y[row * n + column] = (x[row * n + column] - mu[threadIdx.x]) / s[threadIdx.x];
}
