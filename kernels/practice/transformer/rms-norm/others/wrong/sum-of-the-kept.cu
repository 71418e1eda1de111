// Sums what is kept, and forgets the rest of longer rows.
// rejected for: wrong_output
// leads to: complete for every size
constexpr int THREADS = 256;
constexpr int KEPT = 16;  // Numbers that a thread keeps in registers: rows up to 4,096 columns are read once.

__device__ float block_sum(float value) {
    __shared__ float parts[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) value += __shfl_xor_sync(0xffffffff, value, distance);
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < THREADS / 32; warp++) sum += parts[warp];
    return sum;
}

extern "C" __global__ void rms_norm(const float* x, const float* weight, float* y, float* rstd, float epsilon, int n) {
    const float* from = x + (long long)blockIdx.x * n;
    float* to = y + (long long)blockIdx.x * n;
    float kept[KEPT];
    float squares = 0.0f;
#pragma unroll
    for (int j = 0; j < KEPT; j++) {
        int i = j * THREADS + threadIdx.x;
        kept[j] = i < n ? from[i] : 0.0f;
        squares += kept[j] * kept[j];
    }
    float scale = rsqrtf(block_sum(squares) / n + epsilon);
#pragma unroll
    for (int j = 0; j < KEPT; j++) {
        int i = j * THREADS + threadIdx.x;
        if (i < n) to[i] = kept[j] * scale * weight[i];
    }
    for (int i = KEPT * THREADS + threadIdx.x; i < n; i += THREADS) to[i] = from[i] * scale * weight[i];
    if (threadIdx.x == 0) rstd[blockIdx.x] = scale;
}
