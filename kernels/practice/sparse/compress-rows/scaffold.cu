// One warp for each row, four rows a block. `at` is where the row's next entry goes.
extern "C" __global__ void compress(const float* a, const int* start, int* column, float* value, int rows, int columns) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int at = start[row];
    for (int first = 0; first < columns; first += 32) {
        float number = first + lane < columns ? a[(long long)row * columns + first + lane] : 0.0f;
        // TODO: which lanes have an entry, and how many of them come before this lane's?
        if (number != 0.0f) {
            column[at] = first + lane;
            value[at] = number;
        }
    }
}
