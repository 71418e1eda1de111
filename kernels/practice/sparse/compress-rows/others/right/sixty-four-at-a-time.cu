// Two votes for 64 columns at a time: the second group's entries come after the first's.
// lockstep: compress.block = 32
// lockstep: compress.grid = rows
extern "C" __global__ void compress(const float* a, const int* start, int* column, float* value, int rows, int columns) {
    const unsigned all = 0xffffffffu, below = (1u << threadIdx.x) - 1;
    const float* from = a + (size_t)blockIdx.x * columns;
    int at = start[blockIdx.x];
    for (int j = threadIdx.x; j - (int)threadIdx.x < columns; j += 64) {
        float first = j < columns ? from[j] : 0.0f, second = j + 32 < columns ? from[j + 32] : 0.0f;
        unsigned one = __ballot_sync(all, first != 0.0f), two = __ballot_sync(all, second != 0.0f);
        int p = at + __popc(one & below), q = at + __popc(one) + __popc(two & below);
        if (first != 0.0f) column[p] = j, value[p] = first;
        if (second != 0.0f) column[q] = j + 32, value[q] = second;
        at += __popc(one) + __popc(two);
    }
}
