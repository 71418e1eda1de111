// Each lane sums four neighbors itself, and the warp scans the 32 sums: 128 elements a round.
extern "C" __global__ void running_totals(const int* x, int* y, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int* in = x + (size_t)row * n;
    int* out = y + (size_t)row * n;
    int carried = 0;
    for (int first = 0; first < n; first += 128) {
        int v[4], own = 0;
        for (int k = 0; k < 4; k++) {
            int i = first + 4 * lane + k;
            own += i < n ? in[i] : 0;
            v[k] = own;
        }
        int sum = own;
        for (int d = 1; d < 32; d <<= 1) {
            int before = __shfl_up_sync(~0u, sum, d);
            sum += lane >= d ? before : 0;
        }
        int base = carried + sum - own;
        for (int k = 0; k < 4; k++)
            if (first + 4 * lane + k < n) out[first + 4 * lane + k] = base + v[k];
        carried += __shfl_sync(~0u, sum, 31);
    }
}
