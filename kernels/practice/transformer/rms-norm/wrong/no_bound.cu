extern "C" __global__ void rms_norm(const float* x, const float* weight, float* y, float* rstd, float epsilon, int n) {
    __shared__ float parts[8];
    const float* from = x + (long long)blockIdx.x * n;
    float squares = 0.0f;
    for (int i = 0; i < n; i += 256) squares += from[i + threadIdx.x] * from[i + threadIdx.x];
    for (int distance = 16; distance > 0; distance /= 2) squares += __shfl_xor_sync(0xffffffff, squares, distance);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = squares;
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < 8; warp++) sum += parts[warp];
    float scale = rsqrtf(sum / n + epsilon);
    for (int i = threadIdx.x; i < n; i += 256) y[(long long)blockIdx.x * n + i] = from[i] * scale * weight[i];
    if (threadIdx.x == 0) rstd[blockIdx.x] = scale;
}
