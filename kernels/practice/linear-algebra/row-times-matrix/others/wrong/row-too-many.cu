// Takes one row too many.
// rejected for: out_of_bounds
// leads to: loop while row < k
extern "C" __global__ void row_times_matrix(const float* x, const float* a, float* y, int k, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float sum = 0.0f;
    for (int row = 0; row <= k; row++) sum += x[row] * a[(long long)row * n + column];
    y[column] = sum;
}
