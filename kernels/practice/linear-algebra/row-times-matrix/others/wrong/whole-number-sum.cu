// Keeps the sum in an int.
// rejected for: wrong_output
// leads to: a float for the sum
extern "C" __global__ void row_times_matrix(const float* x, const float* a, float* y, int k, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    int sum = 0;
    for (int row = 0; row < k; row++) sum += x[row] * a[(long long)row * n + column];
    y[column] = sum;
}
