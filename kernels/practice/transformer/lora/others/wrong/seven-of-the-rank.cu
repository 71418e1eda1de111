// Adds seven of the eight products.
// rejected for: wrong_output
// leads to: lanes 0 to 7
extern "C" __global__ void project_down(const float* x, const float* down, float* t, int m, int k) {
    int row = blockIdx.y, j = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0.0f;
    for (int i = lane; i < k; i += 32) sum += x[(long long)row * k + i] * down[(long long)j * k + i];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (lane == 0) t[row * 8 + j] = sum;
}

extern "C" __global__ void project(const float* x, const float* base, const float* t, const float* up, float* y, int n, int k) {
    int row = blockIdx.y, column = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (column >= n) return;
    float sum = 0.0f;
    for (int i = lane; i < k; i += 32) sum += x[(long long)row * k + i] * base[(long long)column * k + i];
    if (lane < 7) sum += t[row * 8 + lane] * up[column * 8 + lane];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (lane == 0) y[(long long)row * n + column] = sum;
}
