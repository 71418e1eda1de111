// Gives neighboring lanes neighboring columns.
#include "mma.cuh"

extern "C" __global__ void store_four(const float* a, const float* b, float* c, int m)
{
    const int g = threadIdx.x / 4; // the lane's group, 0 to 7
    const int t = threadIdx.x % 4; // its place in the group
    const int first_row = blockIdx.x * 16;

    // What the lane holds of A: rows g and g + 8, columns t and t + 4. And of B: row g, columns t and t + 4.
    const float* upper = a + (first_row + g) * 8;
    const float* lower = upper + 8 * 8;
    uint32_t from_a[4] = {__float_as_uint(upper[t]), __float_as_uint(lower[t]),
                          __float_as_uint(upper[t + 4]), __float_as_uint(lower[t + 4])};
    float d[4] = {};
    mma_tf32(d, from_a, __float_as_uint(b[g * 8 + t]), __float_as_uint(b[g * 8 + t + 4]));

    const int row = first_row + g;
    const int column = t;
    c[row * 8 + column] = d[0];
    c[row * 8 + column + 1] = d[1];
    c[(row + 8) * 8 + column] = d[2];
    c[(row + 8) * 8 + column + 1] = d[3];
}
