// One warp for each row, four rows a block. `at` is where the row's next entry goes.
extern "C" __global__ void compress(const float* a, const int* start, int* column, float* value, int rows, int columns) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int at = start[row];
    for (int first = 0; first < columns; first += 32) {
        float number = first + lane < columns ? a[(long long)row * columns + first + lane] : 0.0f;
        unsigned mask = __ballot_sync(0xffffffff, number != 0.0f);
        int mine = at + __popc(mask & ((1u << lane) - 1));
        if (number != 0.0f) {
            column[mine] = first + lane;
            value[mine] = number;
        }
        at += __popc(mask);
    }
}
