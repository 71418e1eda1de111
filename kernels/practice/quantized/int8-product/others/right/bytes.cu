// One byte at a time.
// does not reach: Four bytes a load
// does not reach: A load serves sixteen
extern "C" __global__ void product(const signed char* x, const signed char* w, const float* x_scale, const float* w_scale, float* y, int m, int n, int k) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || column >= n) return;
    int sum = 0;
    for (int i = 0; i < k; i++) sum += int(x[(long long)row * k + i]) * int(w[(long long)column * k + i]);
    y[(long long)row * n + column] = sum * x_scale[row] * w_scale[column];
}
