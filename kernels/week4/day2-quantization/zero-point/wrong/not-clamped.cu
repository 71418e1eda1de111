#include "lab.cuh"

// Each row of up to 32 elements has a scale and a zero point: value = (code - zero) * scale. One warp does a row.
extern "C" __global__ void asymmetric_rows(const float* x, signed char* codes, float* scale, int* zero, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) {
        return;  // the whole warp
    }
    const int lane = threadIdx.x;
    const bool is_inside = lane < columns;
    const long long at = (long long)row * columns + lane;
    // Lanes without an element hold 0, so that both reach to 0.
    const float value = is_inside ? x[at] : 0.0f;
    float least = fminf(value, 0.0f), most = fmaxf(value, 0.0f);
    for (int distance = 16; distance > 0; distance /= 2) {
        least = fminf(least, __shfl_xor_sync(FULL_MASK, least, distance));
        most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, distance));
    }

    const float of_row = (most - least) / 255.0f;
    const float divisor = of_row == 0.0f ? 1.0f : of_row;  // a row of zeros
    const float zero_of_row = fminf(fmaxf(rintf(-128.0f - least / divisor), -128.0f), 127.0f);
    const float code = rintf(value / divisor) + zero_of_row;

    if (is_inside) {
        codes[at] = (int)code;
    }
    if (lane == 0) {
        scale[row] = of_row;
        zero[row] = (int)zero_of_row;
    }
}
