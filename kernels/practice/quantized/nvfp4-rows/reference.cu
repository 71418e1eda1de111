// One thread for each block of 16 numbers: eight bytes in one load, four float4 stores.
// Twice the magnitude of code m is the m-th hexadecimal digit of this constant.
constexpr unsigned TWICE = 0xc8643210;

extern "C" __global__ void expand(const unsigned char* codes, const unsigned char* scales, const float* tensor_scale, float* y, int blocks) {
    int block = blockIdx.x * blockDim.x + threadIdx.x;
    if (block >= blocks) return;
    int exponent = scales[block] >> 3, fraction = scales[block] & 7;
    float scale = exponent == 0 ? fraction * 0.001953125f : (8 + fraction) * __int_as_float(exponent - 10 + 127 << 23);
    scale *= 0.5f * tensor_scale[0];
    uint2 eight = reinterpret_cast<const uint2*>(codes)[block];
    float4* to = reinterpret_cast<float4*>(y + 16ll * block);
#pragma unroll
    for (int quarter = 0; quarter < 4; quarter++) {
        float numbers[4];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            unsigned code = (quarter < 2 ? eight.x : eight.y) >> (16 * (quarter % 2) + 4 * j) & 15;
            float magnitude = int(TWICE >> 4 * (code & 7) & 15) * scale;
            numbers[j] = code & 8 ? -magnitude : magnitude;
        }
        to[quarter] = make_float4(numbers[0], numbers[1], numbers[2], numbers[3]);
    }
}
