// Two loads for each product.
// does not reach: A load serves sixteen
// does not reach: Whole sectors, too
extern "C" __global__ void partial_products(const float* a, const float* b, float* partial, int m, int n, int k) {
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0.0f;
    int first = blockIdx.z * 256;
    for (int i = first; i < min(first + 256, k); i++) sum += a[(long long)row * k + i] * b[(long long)i * n + column];
    partial[((long long)blockIdx.z * m + row) * n + column] = sum;
}
