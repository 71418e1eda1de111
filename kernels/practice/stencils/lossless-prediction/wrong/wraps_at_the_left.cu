extern "C" __global__ void residuals(const int* x, int* rest, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    for (int row = blockIdx.y * 32; row < min(rows, (int)(blockIdx.y + 1) * 32); row++) {
        int i = row * columns + column;
        int left = i > 0 ? x[i - 1] : 0;
        int up = row > 0 ? x[i - columns] : 0;
        int up_left = row > 0 && column > 0 ? x[i - columns - 1] : 0;
        rest[i] = x[i] - (left + up - up_left);
    }
}
