// Adds up in shared memory before the other lanes have stored.
// rejected for: race
// leads to: lanes
extern "C" __global__ void csr_warps(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = start[row] + lane; i < start[row + 1]; i += 32) sum += value[i] * x[column[i]];
    __shared__ float sums[128];
    sums[threadIdx.x] = sum;
    if (lane == 0) {
        for (int k = 1; k < 32; k++) sum += sums[threadIdx.x + k];
        y[row] = sum;
    }
}
