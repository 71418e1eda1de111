// Adds a half and cuts off, for negative numbers too.
// rejected for: wrong_output
// leads to: not truncated
extern "C" __global__ void quantize_columns(const float* x, signed char* codes, float* scale, int m, int n) {
    __shared__ float parts[8][32];
    int column = blockIdx.x * 32 + threadIdx.x;
    float most = 0.0f;
    if (column < n) {
        for (int row = threadIdx.y; row < m; row += 8) most = fmaxf(most, fabsf(x[(long long)row * n + column]));
    }
    parts[threadIdx.y][threadIdx.x] = most;
    __syncthreads();
    for (int part = 0; part < 8; part++) most = fmaxf(most, parts[part][threadIdx.x]);
    float step = most / 127.0f;
    if (column >= n) return;
    if (threadIdx.y == 0) scale[column] = step;
    for (int row = threadIdx.y; row < m; row += 8) {
        long long at = (long long)row * n + column;
        codes[at] = step == 0.0f ? 0 : (signed char)(int)(x[at] / step + 0.5f);
    }
}
