// Believes the exponent's bias to be 8.
// rejected for: wrong_output
// leads to: bias is 7
__device__ float value(unsigned char code) {
    int exponent = code >> 3 & 15, fraction = code & 7;
    float size = exponent == 0 ? fraction / 8.0f * 0.015625f : (1.0f + fraction / 8.0f) * exp2f(exponent - 8.0f);
    return code & 128 ? -size : size;
}

extern "C" __global__ void tile_product(const unsigned char* a, const unsigned char* b, float* c, int n, int k) {
    for (int i = threadIdx.x; i < 128; i += 32) {
        long long row = 16 * blockIdx.y + i / 8, column = 8 * blockIdx.x + i % 8;
        float sum = 0.0f;
        for (int j = 0; j < k; j++) sum += value(a[row * k + j]) * value(b[column * k + j]);
        c[row * n + column] = sum;
    }
}

