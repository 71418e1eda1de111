// x in shared memory, 256 numbers at a time; threads with no column stay for the barriers.
extern "C" __global__ void row_times_matrix(const float* x, const float* a, float* y, int k, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    __shared__ float piece[256];
    float sum = 0.0f;
    for (int first = 0; first < k; first += 256) {
        if (first + threadIdx.x < k) piece[threadIdx.x] = x[first + threadIdx.x];
        __syncthreads();
        if (column < n)
            for (int i = 0; i < min(256, k - first); i++) sum += piece[i] * a[(long long)(first + i) * n + column];
        __syncthreads();
    }
    if (column < n) y[column] = sum;
}
