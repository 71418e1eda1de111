// A thread for each byte; both numbers in one store.
extern "C" __global__ void expand(const unsigned char* codes, const float* scale, const unsigned char* zero, float* y, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * (n / 2)) return;
    int row = i / (n / 2), column = 2 * (i % (n / 2));
    int group = row * (n / 32) + column / 32;
    int byte = codes[i], offset = zero[group];
    float step = scale[group];
    float2 two;
    two.x = (float)((byte >> 4) - offset) * step;
    two.y = ((byte & 15) - offset) * step;
    reinterpret_cast<float2*>(y)[i] = two;
}
