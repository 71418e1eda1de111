extern "C" __global__ void csr_warps(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    float sum = 0.0f;
    int end = start[row + 1];
    for (int i = start[row] + lane; i < end; i += 32) sum += value[i] * x[column[i]];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_xor_sync(0xffffffff, sum, distance);
    if (lane == 0) y[row] = sum;
}
