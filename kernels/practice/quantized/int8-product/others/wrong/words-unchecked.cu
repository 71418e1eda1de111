// Loads 16 words where fewer are left.
// rejected for: out_of_bounds
// leads to: the word >= k / 4
extern "C" __global__ void product(const signed char* x, const signed char* w, const float* x_scale, const float* w_scale, float* y, int m, int n, int k) {
    __shared__ int x_tile[16][17], w_tile[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    int w_row = blockIdx.x * 16 + threadIdx.y, words = k / 4;
    const int* x_words = reinterpret_cast<const int*>(x);
    const int* w_words = reinterpret_cast<const int*>(w);
    int sum = 0;
    for (int step = 0; step < words; step += 16) {
        int word = step + threadIdx.x;
        x_tile[threadIdx.y][threadIdx.x] = row < m ? x_words[(long long)row * words + word] : 0;
        w_tile[threadIdx.y][threadIdx.x] = w_row < n ? w_words[(long long)w_row * words + word] : 0;
        __syncthreads();
        for (int i = 0; i < 16; i++) sum = __dp4a(x_tile[threadIdx.y][i], w_tile[threadIdx.x][i], sum);
        __syncthreads();
    }
    if (row < m && column < n) y[(long long)row * n + column] = sum * x_scale[row] * w_scale[column];
}
