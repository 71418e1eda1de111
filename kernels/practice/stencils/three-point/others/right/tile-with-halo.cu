// A block copies its samples and two more to shared memory.
extern "C" __global__ void smooth(const float* x, const float* weights, float* y, int rows) {
    __shared__ float tile[258];
    int i = blockIdx.x * 256 + threadIdx.x, row = blockIdx.y, t = threadIdx.x;
    if (i < 300) tile[t] = x[row * 300 + i];
    if (t < 2 && i + 256 < 300) tile[t + 256] = x[row * 300 + i + 256];
    __syncthreads();
    if (i < 298) y[row * 298 + i] = weights[0] * tile[t] + weights[1] * tile[t + 1] + weights[2] * tile[t + 2];
}
