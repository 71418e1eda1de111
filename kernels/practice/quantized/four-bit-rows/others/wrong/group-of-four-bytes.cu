// A word of four bytes in the wide path, with the scale of the wrong word.
// rejected for: wrong_output
// leads to: group
// lockstep: grid = ceil_div(rows * n / 8, block_x)
extern "C" __global__ void expand(const unsigned char* codes, const float* scale, const unsigned char* zero, float* y, int rows, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= rows * (n / 8)) return;
    unsigned four = reinterpret_cast<const unsigned*>(codes)[i];
    int offset = zero[i / 8];
    float step = scale[i / 8];
    float numbers[8];
#pragma unroll
    for (int j = 0; j < 4; j++) {
        int byte = four >> 8 * j & 255;
        numbers[2 * j] = ((byte >> 4) - offset) * step;
        numbers[2 * j + 1] = ((byte & 15) - offset) * step;
    }
    float4* to = reinterpret_cast<float4*>(y + 8ll * i);
    to[0] = make_float4(numbers[0], numbers[1], numbers[2], numbers[3]);
    to[1] = make_float4(numbers[4], numbers[5], numbers[6], numbers[7]);
}
