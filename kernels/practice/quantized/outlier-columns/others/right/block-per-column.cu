// A block for each column: its threads read numbers that are n apart.
// does not reach: Whole sectors
// lockstep: grid = n
// lockstep: block = 128
extern "C" __global__ void quantize_columns(const float* x, signed char* codes, float* scale, int m, int n) {
    __shared__ float parts[128];
    int column = blockIdx.x;
    float most = 0.0f;
    for (int row = threadIdx.x; row < m; row += 128) most = fmaxf(most, fabsf(x[(long long)row * n + column]));
    parts[threadIdx.x] = most;
    __syncthreads();
    for (int half = 64; half > 0; half /= 2) {
        if (threadIdx.x < half) parts[threadIdx.x] = fmaxf(parts[threadIdx.x], parts[threadIdx.x + half]);
        __syncthreads();
    }
    float step = parts[0] / 127.0f;
    if (threadIdx.x == 0) scale[column] = step;
    for (int row = threadIdx.x; row < m; row += 128) {
        long long at = (long long)row * n + column;
        codes[at] = step == 0.0f ? 0 : (signed char)rintf(x[at] / step);
    }
}
