// Takes a for a matrix that is stored column by column.
// rejected for: wrong_output
// leads to: Does a row have n numbers
extern "C" __global__ void row_times_matrix(const float* x, const float* a, float* y, int k, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float sum = 0.0f;
    for (int row = 0; row < k; row++) sum += x[row] * a[(long long)column * k + row];
    y[column] = sum;
}
