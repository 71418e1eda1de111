// Takes row of w in place of column.
// rejected for: wrong_output
// leads to: Row `column` of w
extern "C" __global__ void product(const signed char* x, const signed char* w, const float* x_scale, const float* w_scale, float* y, int m, int n, int k) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || column >= n) return;
    const int* x_words = reinterpret_cast<const int*>(x + (long long)row * k);
    const int* w_words = reinterpret_cast<const int*>(w + (long long)row * k);
    int sum = 0;
    for (int i = 0; i < k / 4; i++) sum = __dp4a(x_words[i], w_words[i], sum);
    y[(long long)row * n + column] = sum * x_scale[row] * w_scale[column];
}
