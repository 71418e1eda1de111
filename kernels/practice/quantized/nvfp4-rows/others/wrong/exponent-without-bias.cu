// Forgets that exponent 1 stands for 2^0.
// rejected for: doubled
// leads to: (1 << (e - 1))
__device__ float scale_of(unsigned char s) {
    int exponent = s >> 3, fraction = s & 7;
    return exponent == 0 ? ldexpf(fraction, -9) : ldexpf(8 + fraction, exponent - 10);
}

__device__ float number_of(int code) {
    int e = code >> 1 & 3, f = code & 1;
    float magnitude = e == 0 ? 0.5f * f : (1.0f + 0.5f * f) * (1 << e);
    return code & 8 ? -magnitude : magnitude;
}

// One thread for each block of 16 numbers.
extern "C" __global__ void expand(const unsigned char* codes, const unsigned char* scales, const float* tensor_scale, float* y, int blocks) {
    int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= blocks) return;
    float scale = scale_of(scales[block]) * tensor_scale[0];
    for (int j = 0; j < 16; j++) {
        int byte = codes[8ll * block + j / 2];
        int code = j % 2 == 0 ? byte & 15 : byte >> 4;
        y[16ll * block + j] = number_of(code) * scale;
    }
}
