// The doubling in shared memory with nothing between reading and writing.
// rejected for: race
// leads to: by shuffles
extern "C" __global__ void running_totals(const int* x, int* y, int rows, int n) {
    __shared__ int all[8][32];
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, *s = all[threadIdx.x / 32];
    if (row >= rows) return;
    int carried = 0;
    for (int first = 0; first < n; first += 32) {
        int i = first + lane;
        s[lane] = i < n ? x[row * n + i] : 0;
        for (int d = 1; d < 32; d *= 2)
            if (lane >= d) s[lane] += s[lane - d];
        if (i < n) y[row * n + i] = carried + s[lane];
        carried += s[31];
    }
}
