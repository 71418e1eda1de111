// Takes places with an atomic counter: the order is lost.
// rejected for: wrong_output
// leads to: out of order
extern "C" __global__ void list_ones(const int* x, int* list, int* counts, int rows, int n) {
    __shared__ int at[8];
    int w = threadIdx.x / 32, row = blockIdx.x * 8 + w, lane = threadIdx.x % 32;
    if (row >= rows) return;
    if (lane == 0) at[w] = 0;
    __syncwarp();
    for (int i = n - 1 - lane; i >= 0; i -= 32)
        if (x[row * n + i]) list[row * n + atomicAdd(&at[w], 1)] = i;
    __syncwarp();
    if (lane == 0) counts[row] = at[w];
}
