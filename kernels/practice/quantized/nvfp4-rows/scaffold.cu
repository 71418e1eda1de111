__device__ float scale_of(unsigned char s) {
    int exponent = s >> 3, fraction = s & 7;
    // TODO 1: what this scale is worth.
    return exponent + fraction;
}

__device__ float number_of(int code) {
    int e = code >> 1 & 3, f = code & 1;
    // TODO 2: what this code's magnitude is.
    float magnitude = e + f;

    return code & 8 ? -magnitude : magnitude;
}

// One thread for each block of 16 numbers.
extern "C" __global__ void expand(const unsigned char* codes, const unsigned char* scales, const float* tensor_scale, float* y, int blocks) {
    int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= blocks) return;
    float scale = scale_of(scales[block]) * tensor_scale[0];
    for (int j = 0; j < 16; j++) {
        int byte = codes[8ll * block + j / 2];
        // TODO 3: which half of the byte is code j?
        y[16ll * block + j] = number_of(byte) * scale;
    }
}
