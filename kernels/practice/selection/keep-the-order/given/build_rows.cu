// Each listed column adds 1 to its place, or 2 where the list does not ascend. One that is not in the row adds 4 to the
// row's first place.
extern "C" __global__ void build_rows(const int* list, const int* counts, int* y, int rows, int n) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (row >= rows) return;
    const int* own = list + (size_t)row * n;
    int count = min(counts[row], n);
    for (int k = lane; k < count; k += 32) {
        int column = own[k];
        bool ascends = k == 0 || own[k - 1] < column;
        bool is_column = column >= 0 && column < n;
        atomicAdd(&y[(size_t)row * n + (is_column ? column : 0)], !is_column ? 4 : ascends ? 1 : 2);
    }
}
