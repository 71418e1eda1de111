// Every element adds up all that come before it.
// does not reach: Each element is loaded once
extern "C" __global__ void running_totals(const int* x, int* y, int rows, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    for (int i = lane; i < n; i += 32) {
        int sum = 0;
        for (int j = 0; j <= i; j++) sum += x[row * n + j];
        y[row * n + i] = sum;
    }
}
