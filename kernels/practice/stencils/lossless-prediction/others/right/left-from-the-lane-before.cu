// The pixel on the left is in the lane before; only lane 0 loads it.
extern "C" __global__ void residuals(const int* x, int* rest, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31, first = blockIdx.y * 32;
    auto pixel = [&](int r, int c) { return r >= 0 && c >= 0 && c < columns ? x[(size_t)r * columns + c] : 0; };
    int up = pixel(first - 1, column), up_left = pixel(first - 1, column - 1);
    for (int row = first; row < first + 32 && row < rows; row++) {
        int own = pixel(row, column), left = __shfl_up_sync(0xffffffffu, own, 1);
        if (lane == 0) left = pixel(row, column - 1);
        if (column < columns) rest[(size_t)row * columns + column] = own - left - up + up_left;
        up = own;
        up_left = left;
    }
}
