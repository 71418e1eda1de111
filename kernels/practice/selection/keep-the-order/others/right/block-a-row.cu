// A block for each row: running sums of the flags in shared memory.
// lockstep: list_ones.block = 128
// lockstep: list_ones.grid = rows
extern "C" __global__ void list_ones(const int* x, int* list, int* counts, int rows, int n) {
    __shared__ int sums[128];
    int t = threadIdx.x, found = 0;
    const int* from = x + (size_t)blockIdx.x * n;
    for (int first = 0; first < n; first += 128) {
        int one = first + t < n && from[first + t] != 0;
        sums[t] = one;
        __syncthreads();
        for (int d = 1; d < 128; d *= 2) {
            int left = t >= d ? sums[t - d] : 0;
            __syncthreads();
            sums[t] += left;
            __syncthreads();
        }
        if (one) list[(size_t)blockIdx.x * n + found + sums[t] - 1] = first + t;
        found += sums[127];
        __syncthreads();
    }
    if (t == 0) counts[blockIdx.x] = found;
}
