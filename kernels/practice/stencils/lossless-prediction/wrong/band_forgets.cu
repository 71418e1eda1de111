// A thread walks down 32 rows of its column and keeps the row above in registers: two loads for each pixel, not four.
//@ kernel
#define BAND 32

extern "C" __global__ void residuals(const int* x, int* rest, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x, first = blockIdx.y * BAND;
    if (column >= columns) return;
    int up = 0, up_left = 0;
    if (false) {
        const int* above = x + (size_t)(first - 1) * columns + column;
        up = above[0];
        up_left = column > 0 ? above[-1] : 0;
    }
    for (int row = first; row < min(rows, first + BAND); row++) {
        const int* here = x + (size_t)row * columns + column;
        int own = here[0], left = column > 0 ? here[-1] : 0;
        rest[(size_t)row * columns + column] = own - (left + up - up_left);
        up = own;
        up_left = left;
    }
}
//@ end
