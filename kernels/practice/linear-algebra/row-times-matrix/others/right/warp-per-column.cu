// A warp for each column, with shuffles: its lanes read numbers that are n apart.
// does not reach: Whole sectors
// does not reach: x serves several columns
// lockstep: grid = ceil_div(n, 8)
extern "C" __global__ void row_times_matrix(const float* x, const float* a, float* y, int k, int n) {
    int column = blockIdx.x * 8 + threadIdx.x / 32;
    if (column >= n) return;
    float sum = 0.0f;
    for (int row = threadIdx.x % 32; row < k; row += 32) sum += x[row] * a[(long long)row * n + column];
    for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
    if (threadIdx.x % 32 == 0) y[column] = sum;
}
