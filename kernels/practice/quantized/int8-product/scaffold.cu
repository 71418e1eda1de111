// One thread for each result, a word of four bytes at a time.
extern "C" __global__ void product(const signed char* x, const signed char* w, const float* x_scale, const float* w_scale, float* y, int m, int n, int k) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || column >= n) return;
    const int* x_words = reinterpret_cast<const int*>(x + (long long)row * k);
    const int* w_words = reinterpret_cast<const int*>(w + (long long)column * k);
    int sum = 0;
    // TODO: add up the products of all words, then scale the sum.
    sum = x_words[0] + w_words[0];
    y[(long long)row * n + column] = sum;
}
