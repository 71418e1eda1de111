// Block (x, y, z) makes a tile of 16 x 16 of the z-th part of the sum.
extern "C" __global__ void partial_products(const float* a, const float* b, float* partial, int m, int n, int k) {
    __shared__ float a_tile[16][16], b_tile[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    // TODO: where does this block's part of the sum begin and end? Fill both tiles, 16 steps at a time, and multiply.
    a_tile[y][x] = row < m && x < k ? a[(long long)row * k + x] : 0.0f;
    b_tile[y][x] = y < k && column < n ? b[(long long)y * n + column] : 0.0f;
    float sum = a_tile[y][x] * b_tile[y][x];

    if (row < m && column < n) partial[((long long)blockIdx.z * m + row) * n + column] = sum;
}
