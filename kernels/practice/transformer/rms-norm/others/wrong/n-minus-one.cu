// Divides by n - 1.
// rejected for: wrong_output
// leads to: so divided by n
__device__ float warp_sum(float value) {
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    return value;
}

// One block of 256 threads for each row.
extern "C" __global__ void rms_norm(const float* x, const float* weight, float* y, float* rstd, float epsilon, int n) {
    int row = blockIdx.x;
    const float* from = x + (long long)row * n;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) squares += from[i] * from[i];
    squares = warp_sum(squares);
    __shared__ float parts[8];
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = squares;
    __syncthreads();
    squares = 0.0f;
    for (int warp = 0; warp < 8; warp++) squares += parts[warp];
    float scale = rsqrtf(squares / max(n - 1, 1) + epsilon);
    for (int i = threadIdx.x; i < n; i += 256) y[(long long)row * n + i] = from[i] * scale * weight[i];
    if (threadIdx.x == 0) rstd[row] = scale;
}
