// Exchanges the rows in both halves.
#include "mma.cuh"

extern "C" __global__ void find_the_slip(const float* a, const float* b, float* c, int m)
{
    const int g = threadIdx.x / 4;
    const int t = threadIdx.x % 4;
    const int first_row = blockIdx.x * 16;
    // One element of A, as the 32 bits that the tensor core wants.
    auto of_a = [&](int row, int x) { return __float_as_uint(a[(first_row + row) * 8 + x]); };

    uint32_t from_a[4];
    from_a[0] = of_a(g + 8, t);
    from_a[1] = of_a(g, t);
    from_a[2] = of_a(g + 8, t + 4);
    from_a[3] = of_a(g, t + 4);

    float d[4] = {};
    mma_tf32(d, from_a, __float_as_uint(b[g * 8 + t]), __float_as_uint(b[g * 8 + t + 4]));
    store_pair(c, first_row + g, 2 * t, m, 8, d[0], d[1]);
    store_pair(c, first_row + g + 8, 2 * t, m, 8, d[2], d[3]);
}
