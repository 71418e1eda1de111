// Takes bytes for signed: from 128 on the shift fills with ones.
// rejected for: wrong_output
// leads to: bytes and codes have no sign
extern "C" __global__ void expand(const unsigned char* codes, const float* scale, const unsigned char* zero, float* y, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * (n / 2)) return;
    int row = i / (n / 2), column = 2 * (i % (n / 2));
    int group = row * (n / 32) + column / 32;
    int byte = (signed char)codes[i], offset = zero[group];
    float step = scale[group];
    y[2 * i] = ((byte >> 4) - offset) * step;
    y[2 * i + 1] = ((byte & 15) - offset) * step;
}
