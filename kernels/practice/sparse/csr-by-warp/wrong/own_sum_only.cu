extern "C" __global__ void csr_warps(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0.0f;
    int end = start[row + 1];
    for (int i = start[row] + lane; i < end; i += 32) sum += value[i] * x[column[i]];
    if (lane == 0) y[row] = sum;
}
