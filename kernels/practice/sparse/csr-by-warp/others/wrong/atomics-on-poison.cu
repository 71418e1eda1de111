// Every lane adds its sum to y, which holds nothing yet.
// rejected for: uninitialised
// leads to: y
extern "C" __global__ void csr_warps(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float sum = 0.0f;
    for (int i = start[row] + lane; i < start[row + 1]; i += 32) sum += value[i] * x[column[i]];
    atomicAdd(&y[row], sum);
}
