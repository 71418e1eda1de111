// lockstep: grid = ceil_div(n, 256), 2
extern "C" __global__ void row_times_matrix(const float* x, const float* a, float* y, int k, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float sum = 0.0f;
    for (int row = blockIdx.y; row < k; row += 2) sum += x[row] * a[(long long)row * n + column];
    y[column] += sum;
}
