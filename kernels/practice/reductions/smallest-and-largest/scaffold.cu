// TODO: the smallest and the largest element of each row. So far lane 0 reports the first element for both.
extern "C" __global__ void row_range(const float* x, float* min, float* max, int rows, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    float least = x[row * n], most = x[row * n];
    if (lane == 0) {
        min[row] = least;
        max[row] = most;
    }
}
