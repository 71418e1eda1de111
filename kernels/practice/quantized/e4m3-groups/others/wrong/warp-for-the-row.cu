// One warp for the row: the scale of the whole row for each group.
// rejected for: wrong_output
// leads to: of exactly the 128 numbers of the group
__device__ unsigned to_e4m3(float number) {
    float magnitude = fabsf(number);
    int exponent = magnitude < 0.015625f ? -6 : int(__float_as_uint(magnitude) >> 23) - 127;
    float steps = rintf(magnitude * __int_as_float(130 - exponent << 23));
    return (number < 0.0f ? 0x80 : 0) | (8 * (exponent + 6) + unsigned(steps));
}

extern "C" __global__ void quantize_groups(const float* x, unsigned char* codes, float* scale, int rows, int n) {
    int groups = (n + 127) / 128, group = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (group >= groups) return;
    const float* from = x + (long long)blockIdx.y * n;
    float kept[4], most = 0.0f;
    for (int j = 0; j < 4; j++) {
        int column = 128 * group + 32 * j + lane;
        kept[j] = column < n ? from[column] : 0.0f;
        most = fmaxf(most, fabsf(kept[j]));
    }
    for (int column = lane; column < n; column += 32) most = fmaxf(most, fabsf(from[column]));
    for (int distance = 16; distance > 0; distance /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, distance));
    float step = most / 448.0f;
    if (lane == 0) scale[(long long)blockIdx.y * groups + group] = step;
    for (int j = 0; j < 4; j++) {
        int column = 128 * group + 32 * j + lane;
        if (column < n) codes[(long long)blockIdx.y * n + column] = step == 0.0f ? 0 : to_e4m3(kept[j] / step);
    }
}
