// One thread for each byte: two columns.
extern "C" __global__ void expand(const unsigned char* codes, const float* scale, const unsigned char* zero, float* y, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * (n / 2)) return;
    int row = i / (n / 2), column = 2 * (i % (n / 2));
    // TODO: the group's scale and zero point, the two codes of byte i, and the numbers that they mean.
    y[(long long)row * n + column] = codes[i];
    y[(long long)row * n + column + 1] = codes[i];
}
