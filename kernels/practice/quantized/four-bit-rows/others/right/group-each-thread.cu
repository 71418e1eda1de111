// A thread for each group of 32: its scale and zero point are loaded once.
extern "C" __global__ void expand(const unsigned char* codes, const float* scale, const unsigned char* zero, float* y, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * (n / 32)) return;
    float offset = zero[i], step = scale[i];
    for (int j = 0; j < 32; j++) {
        int byte = codes[16 * i + j / 2];
        y[32ll * i + j] = step * ((byte >> 4 * (1 - j % 2) & 15) - offset);
    }
}
