// Gives dp4a 0 as the sum so far.
// rejected for: wrong_output
// leads to: the sum so far
extern "C" __global__ void product(const signed char* x, const signed char* w, const float* x_scale, const float* w_scale, float* y, int m, int n, int k) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || column >= n) return;
    const int* x_words = reinterpret_cast<const int*>(x + (long long)row * k);
    const int* w_words = reinterpret_cast<const int*>(w + (long long)column * k);
    int sum = 0;
    for (int i = 0; i < k / 4; i++) sum = __dp4a(x_words[i], w_words[i], 0);
    y[(long long)row * n + column] = sum * x_scale[row] * w_scale[column];
}
