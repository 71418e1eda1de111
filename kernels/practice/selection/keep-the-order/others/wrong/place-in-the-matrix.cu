// Lists the place in the whole matrix.
// rejected for: wrong_output
// leads to: column
extern "C" __global__ void list_ones(const int* x, int* list, int* counts, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, found = 0;
    if (row >= rows) return;
    for (int first = 0; first < n; first += 32) {
        int i = first + lane;
        bool one = i < n && x[row * n + i];
        unsigned votes = __ballot_sync(0xffffffffu, one);
        if (one) list[row * n + found + __popc(votes & ((1u << lane) - 1))] = row * n + i;
        found += __popc(votes);
    }
    if (lane == 0) counts[row] = found;
}
