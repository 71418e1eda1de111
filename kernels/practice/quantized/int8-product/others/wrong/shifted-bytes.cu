// Takes the words apart with shifts and loses the sign of three bytes.
// rejected for: wrong_output
// leads to: carry their sign
extern "C" __global__ void product(const signed char* x, const signed char* w, const float* x_scale, const float* w_scale, float* y, int m, int n, int k) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || column >= n) return;
    const int* x_words = reinterpret_cast<const int*>(x + (long long)row * k);
    const int* w_words = reinterpret_cast<const int*>(w + (long long)column * k);
    int sum = 0;
    for (int i = 0; i < k / 4; i++) for (int j = 0; j < 4; j++) sum += (x_words[i] >> 8 * j & 255) * (int)(signed char)(w_words[i] >> 8 * j);
    y[(long long)row * n + column] = sum * x_scale[row] * w_scale[column];
}
