// The doubling in shared memory, with a barrier of the warp between reading and writing.
extern "C" __global__ void running_totals(const int* x, int* y, int rows, int n) {
    __shared__ int all[8][32];
    int row = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32, *s = all[threadIdx.x / 32];
    if (row >= rows) return;
    int carried = 0;
    for (int first = 0; first < n; first += 32) {
        int i = first + lane, sum = i < n ? x[row * n + i] : 0;
        for (int d = 1; d < 32; d *= 2) {
            s[lane] = sum;
            __syncwarp();
            if (lane >= d) sum += s[lane - d];
            __syncwarp();
        }
        s[lane] = sum;
        __syncwarp();
        if (i < n) y[row * n + i] = carried + sum;
        carried += s[31];
        __syncwarp();
    }
}
