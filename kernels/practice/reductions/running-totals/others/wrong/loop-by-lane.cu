// The loop's bound is checked by each lane, so that lanes beyond the row leave before the exchange.
// rejected for: mask_misuse
// leads to: must stay for the exchange
extern "C" __global__ void running_totals(const int* x, int* y, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int carried = 0;
    for (int i = lane; i < n; i += 32) {
        int sum = x[row * n + i];
        for (int d = 1; d < 32; d *= 2) {
            int before = __shfl_up_sync(~0u, sum, d);
            if (lane >= d) sum += before;
        }
        sum += carried;
        y[row * n + i] = sum;
        carried = __shfl_sync(~0u, sum, 31);
    }
}
