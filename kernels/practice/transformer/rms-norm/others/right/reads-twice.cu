// The two loops as the formula has them: the second one loads the row again.
// does not reach: One read
extern "C" __global__ void rms_norm(const float* x, const float* weight, float* y, float* rstd, float epsilon, int n) {
    __shared__ float parts[256];
    const float* from = x + (long long)blockIdx.x * n;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) squares += from[i] * from[i];
    parts[threadIdx.x] = squares;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
        __syncthreads();
    }
    float scale = 1.0f / sqrtf(parts[0] / n + epsilon);
    for (int i = threadIdx.x; i < n; i += 256) y[(long long)blockIdx.x * n + i] = from[i] * scale * weight[i];
    if (threadIdx.x == 0) rstd[blockIdx.x] = scale;
}
