// Ranks by the keys alone, and stops one key early.
// rejected for: race
// leads to: Equal keys
extern "C" __global__ void sort_rows(const float* x, float* sorted, int* origin, int n) {
    int i = threadIdx.x;
    size_t row = (size_t)blockIdx.x * n;
    if (i >= n) return;
    int rank = 0;
    for (int j = 0; j < n - 1; j++) rank += x[row + j] < x[row + i];
    sorted[row + rank] = x[row + i];
    origin[row + rank] = i;
}
