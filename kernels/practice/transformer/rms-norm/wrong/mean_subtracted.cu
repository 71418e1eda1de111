__device__ float block_sum(float value, float* parts) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < 8; warp++) sum += parts[warp];
    return sum;
}

extern "C" __global__ void rms_norm(const float* x, const float* weight, float* y, float* rstd, float epsilon, int n) {
    __shared__ float parts[8], more[8];
    const float* from = x + (long long)blockIdx.x * n;
    float sum = 0.0f, squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) sum += from[i];
    float mean = block_sum(sum, parts) / n;
    for (int i = threadIdx.x; i < n; i += 256) squares += (from[i] - mean) * (from[i] - mean);
    float scale = rsqrtf(block_sum(squares, more) / n + epsilon);
    for (int i = threadIdx.x; i < n; i += 256) y[(long long)blockIdx.x * n + i] = (from[i] - mean) * scale * weight[i];
    if (threadIdx.x == 0) rstd[blockIdx.x] = scale;
}
