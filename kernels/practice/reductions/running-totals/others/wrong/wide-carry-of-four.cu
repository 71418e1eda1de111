// The fast path scans the sums of four, and carries on the last lane's first element only.
// rejected for: wrong_output
// leads to: is the carry there
extern "C" __global__ void running_totals(const int* x, int* y, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int carried = 0, w = n % 4 ? 1 : 4;
    for (int first = 0; first < n; first += 32 * w) {
        int v[4], own = 0;
        for (int k = 0; k < w; k++) {
            int i = first + w * lane + k;
            v[k] = own += i < n ? x[row * n + i] : 0;
        }
        int sum = own;
        for (int d = 1; d < 32; d <<= 1) {
            int before = __shfl_up_sync(~0u, sum, d);
            if (lane >= d) sum += before;
        }
        for (int k = 0; k < w; k++)
            if (first + w * lane + k < n) y[row * n + first + w * lane + k] = carried + sum - own + v[k];
        carried += __shfl_sync(~0u, w == 4 ? sum - own + v[0] : sum, 31);
    }
}
