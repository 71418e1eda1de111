// One thread for each row, which counts its entries as it goes.
// does not reach: Rows read together
// lockstep: compress.grid = ceil_div(rows, 128)
extern "C" __global__ void compress(const float* a, const int* start, int* column, float* value, int rows, int columns) {
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    int at = start[row];
    for (int i = 0; i < columns; i++) {
        float number = a[(long long)row * columns + i];
        if (number == 0.0f) continue;
        column[at] = i;
        value[at++] = number;
    }
}
