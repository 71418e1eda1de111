// Where the columns are a multiple of four it guesses from the pixel above only.
// rejected for: wrong_output
// leads to: left + up - up_left
extern "C" __global__ void residuals(const int* x, int* rest, int rows, int columns) {
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= columns) return;
    for (int r = blockIdx.y * 32; r < min(rows, (int)blockIdx.y * 32 + 32); r++) {
        int i = r * columns + c;
        int left = c ? x[i - 1] : 0, up = r ? x[i - columns] : 0, corner = r && c ? x[i - columns - 1] : 0;
        rest[i] = x[i] - (columns % 4 ? left + up - corner : up);
    }
}
