// Multiplies all four columns by the first of b.
// rejected for: wrong_output
// leads to: column meets b
// lockstep: grid = ceil_div(n, 128), ceil_div(m, 64)
constexpr int ROWS = 8;

extern "C" __global__ void outer(const float* a, const float* b, float* c, int m, int n) {
    int column = 4 * (blockIdx.x * 32 + threadIdx.x);
    int first = (blockIdx.y * 8 + threadIdx.y) * ROWS;
    if (column >= n) return;
    if (n % 4 == 0) {
        float4 four = *reinterpret_cast<const float4*>(b + column);
        for (int row = first; row < min(first + ROWS, m); row++) {
            float factor = a[row];
            float4 product = make_float4(factor * four.x, factor * four.x, factor * four.x, factor * four.x);
            *reinterpret_cast<float4*>(c + (long long)row * n + column) = product;
        }
        return;
    }
    for (int row = first; row < min(first + ROWS, m); row++) {
        for (int j = column; j < min(column + 4, n); j++) c[(long long)row * n + j] = a[row] * b[j];
    }
}
