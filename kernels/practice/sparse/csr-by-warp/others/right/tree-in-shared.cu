// The 32 sums meet in shared memory.
// lockstep: csr_warps.grid = ceil_div(rows, 8)
// lockstep: csr_warps.block = 32, 8
extern "C" __global__ void csr_warps(const int* start, const int* column, const float* value, const float* x, float* y, int rows) {
    __shared__ float sums[8][33];
    int row = blockIdx.x * 8 + threadIdx.y, lane = threadIdx.x;
    float sum = 0.0f;
    if (row < rows)
        for (int i = start[row] + lane, end = start[row + 1]; i < end; i += 32) sum = fmaf(value[i], x[column[i]], sum);
    sums[threadIdx.y][lane] = sum;
    for (int d = 16; d > 0; d >>= 1) {
        __syncthreads();
        if (lane < d) sums[threadIdx.y][lane] += sums[threadIdx.y][lane + d];
    }
    if (lane == 0 && row < rows) y[row] = sums[threadIdx.y][0];
}
