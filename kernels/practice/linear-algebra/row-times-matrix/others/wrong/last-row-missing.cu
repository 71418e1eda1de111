// Leaves out the last row.
// rejected for: cut_sums
// leads to: the last product of each sum is missing
extern "C" __global__ void row_times_matrix(const float* x, const float* a, float* y, int k, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float sum = 0.0f;
    for (int row = 0; row < k - 1; row++) sum += x[row] * a[(long long)row * n + column];
    y[column] = sum;
}
