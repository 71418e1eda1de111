// Running sums of ones by five shuffles, in place of a ballot; two rows a block.
// lockstep: compress.grid = ceil_div(rows, 2)
// lockstep: compress.block = 32, 2
extern "C" __global__ void compress(const float* a, const int* start, int* column, float* value, int rows, int columns) {
    int row = blockIdx.x * 2 + threadIdx.y, lane = threadIdx.x;
    if (row >= rows) return;
    const float* from = a + (size_t)row * columns;
    int at = start[row];
    for (int j = lane; j - lane < columns; j += 32) {
        float v = j < columns ? __ldg(from + j) : 0.0f;
        int one = v != 0.0f, sum = one;
        for (int d = 1; d < 32; d += d) {
            int left = __shfl_up_sync(~0u, sum, d);
            sum += lane >= d ? left : 0;
        }
        if (one) column[at + sum - 1] = j, value[at + sum - 1] = v;
        at += __shfl_sync(~0u, sum, 31);
    }
}
