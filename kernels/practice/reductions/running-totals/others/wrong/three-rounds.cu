// Exchanges at distances 1, 2, 4 and 8: the last one is missing.
// rejected for: wrong_output
// leads to: five
#define ALL 0xffffffffu

extern "C" __global__ void running_totals(const int* x, int* y, int rows, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int carried = 0;
    for (int first = 0; first < n; first += 32) {
        int i = first + lane;
        int sum = i < n ? x[(size_t)row * n + i] : 0;
        for (int distance = 1; distance < 16; distance *= 2) {
            int before = __shfl_up_sync(ALL, sum, distance);
            if (lane >= distance) sum += before;
        }
        sum += carried;
        if (i < n) y[(size_t)row * n + i] = sum;
        carried = __shfl_sync(ALL, sum, 31);
    }
}
