// A warp for each row. The vote says which lanes found something; the ones below a lane's own bit are how many places
// come before it. No atomics, and the order is kept.
//@ kernel
#define ALL 0xffffffffu

extern "C" __global__ void list_ones(const int* x, int* list, int* counts, int rows, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int found = 0;
    for (int first = 0; first < n; first += 32) {
        int i = first + lane;
        bool is_one = i < n && x[(size_t)row * n + i] != 0;
        unsigned votes = __ballot_sync(ALL, is_one);
        if (is_one) list[(size_t)row * n + __popc(votes & ((1u << lane) - 1))] = i;
        found = __popc(votes);
    }
    if (lane == 0) counts[row] = found;
}
//@ end
