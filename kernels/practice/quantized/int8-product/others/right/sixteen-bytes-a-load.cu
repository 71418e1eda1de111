// int4 loads: four words at once.
extern "C" __global__ void product(const signed char* x, const signed char* w, const float* x_scale, const float* w_scale, float* y, int m, int n, int k) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || column >= n) return;
    const int4* x_words = reinterpret_cast<const int4*>(x + (long long)row * k);
    const int4* w_words = reinterpret_cast<const int4*>(w + (long long)column * k);
    int sum = 0;
    for (int i = 0; i < k / 16; i++) {
        int4 a = x_words[i], b = w_words[i];
        sum = __dp4a(a.x, b.x, __dp4a(a.y, b.y, __dp4a(a.z, b.z, __dp4a(a.w, b.w, sum))));
    }
    y[(long long)row * n + column] = sum * x_scale[row] * w_scale[column];
}
