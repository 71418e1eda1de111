// The carry is added up although the last lane's total holds it already.
// rejected for: wrong_output
// leads to: is it added once
extern "C" __global__ void running_totals(const int* x, int* y, int rows, int n) {
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    int carried = 0;
    for (int first = 0; first < n; first += 32) {
        int i = first + lane, sum = i < n ? x[row * n + i] : 0;
        for (int d = 1; d < 32; d *= 2) {
            int before = __shfl_up_sync(~0u, sum, d);
            if (lane >= d) sum += before;
        }
        sum += carried;
        if (i < n) y[row * n + i] = sum;
        carried += __shfl_sync(~0u, sum, 31);
    }
}
