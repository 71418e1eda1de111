// Guesses the mean of left and up.
// rejected for: wrong_output
// leads to: left + up - up_left
extern "C" __global__ void residuals(const int* x, int* rest, int rows, int columns) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) return;
    int first = blockIdx.y * 32, last = min(rows, first + 32);
    int up = 0, up_left = 0;
    if (first > 0) {
        up = x[(first - 1) * columns + column];
        if (column > 0) up_left = x[(first - 1) * columns + column - 1];
    }
    for (int row = first; row < last; row++) {
        int own = x[row * columns + column];
        int left = column > 0 ? x[row * columns + column - 1] : 0;
        rest[row * columns + column] = own - ((left + up) / 2);
        up_left = left;
        up = own;
    }
}
