// Counts its own bit: every entry is one place too far.
// rejected for: wrong_output
// leads to: lower lanes only
extern "C" __global__ void compress(const float* a, const int* start, int* column, float* value, int rows, int columns) {
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int at = start[row];
    for (int first = 0; first < columns; first += 32) {
        float number = first + lane < columns ? a[row * columns + first + lane] : 0.0f;
        unsigned mask = __ballot_sync(0xffffffffu, number != 0.0f);
        if (number != 0.0f) {
            int place = at + __popc(mask & ((2u << lane) - 1));
            column[place] = first + lane;
            value[place] = number;
        }
        at += __popc(mask);
    }
}
