// The e4m3 code nearest to a number of at most 448 in magnitude.
__device__ unsigned to_e4m3(float number) {
    float magnitude = fabsf(number);
    int exponent = magnitude < 0.015625f ? -6 : int(__float_as_uint(magnitude) >> 23) - 127;
    float steps = rintf(magnitude * __int_as_float(130 - exponent << 23));
    return (number < 0.0f ? 0x80 : 0) | (8 * (exponent + 6) + unsigned(steps));
}

// A warp for each group. Lane l has columns 4 l to 4 l + 3: one float4 load, one store of four codes.
extern "C" __global__ void quantize_groups(const float* x, unsigned char* codes, float* scale, int rows, int n) {
    int groups = (n + 127) / 128, group = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (group >= groups) return;
    int column = 128 * group + 4 * lane;
    long long at = (long long)blockIdx.y * n + column;
    bool is_wide = n % 4 == 0;
    float kept[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    if (is_wide && column < n) {
        float4 four = *reinterpret_cast<const float4*>(x + at);
        kept[0] = four.x, kept[1] = four.y, kept[2] = four.z, kept[3] = four.w;
    } else if (!is_wide) {
#pragma unroll
        for (int j = 0; j < 4; j++) kept[j] = column + j < n ? x[at + j] : 0.0f;
    }
    float most = fmaxf(fmaxf(fabsf(kept[0]), fabsf(kept[1])), fmaxf(fabsf(kept[2]), fabsf(kept[3])));
    for (int distance = 16; distance > 0; distance /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, distance));
    float step = most / 448.0f;
    if (lane == 0) scale[(long long)blockIdx.y * groups + group] = step;
    unsigned four = 0;
#pragma unroll
    for (int j = 0; j < 4; j++) four |= (step == 0.0f ? 0 : to_e4m3(kept[j] / step)) << 8 * j;
    if (is_wide && column < n) {
        *reinterpret_cast<unsigned*>(codes + at) = four;
    } else if (!is_wide) {
        for (int j = 0; j < min(4, n - column); j++) codes[at + j] = four >> 8 * j;
    }
}
