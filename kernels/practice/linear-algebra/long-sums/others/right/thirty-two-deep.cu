// Tiles of 16 x 32 and 32 x 16: half as many barriers. Each thread loads two numbers of each.
extern "C" __global__ void partial_products(const float* a, const float* b, float* partial, int m, int n, int k) {
    __shared__ float a_tile[16][33], b_tile[32][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    int first = blockIdx.z * 256, end = min(first + 256, k);
    float sum = 0.0f;
    for (int step = first; step < end; step += 32) {
        for (int j = 0; j < 32; j += 16) {
            a_tile[y][x + j] = row < m && step + x + j < k ? a[(long long)row * k + step + x + j] : 0.0f;
            b_tile[y + j][x] = step + y + j < k && column < n ? b[(long long)(step + y + j) * n + column] : 0.0f;
        }
        __syncthreads();
        for (int i = 0; i < 32; i++) sum += a_tile[y][i] * b_tile[i][x];
        __syncthreads();
    }
    if (row < m && column < n) partial[((long long)blockIdx.z * m + row) * n + column] = sum;
}
