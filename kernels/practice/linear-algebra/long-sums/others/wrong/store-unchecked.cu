// Stores results that do not exist.
// rejected for: out_of_bounds
// leads to: Store only if
extern "C" __global__ void partial_products(const float* a, const float* b, float* partial, int m, int n, int k) {
    __shared__ float a_tile[16][16], b_tile[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    int first = blockIdx.z * 256, end = min(first + 256, k);
    float sum = 0.0f;
    for (int step = first; step < end; step += 16) {
        a_tile[y][x] = row < m && step + x < k ? a[(long long)row * k + step + x] : 0.0f;
        b_tile[y][x] = step + y < k && column < n ? b[(long long)(step + y) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += a_tile[y][i] * b_tile[i][x];
        __syncthreads();
    }
    partial[((long long)blockIdx.z * m + row) * n + column] = sum;
}
