#include "lab.cuh"

// Each thread adds up a row of 2,000 numbers of 0.001 in a total that is rounded to bf16 after every addition.
#define STOCHASTIC 0

__device__ unsigned hash(unsigned seed, unsigned i)
{
    unsigned h = i * 0x9e3779b9u + seed;
    for (int round = 0; round < 2; round++) {
        h = (h ^ h >> 16) * 0x85ebca6bu;
        h = (h ^ h >> 13) * 0xc2b2ae35u;
        h = h ^ h >> 16;
        h += seed;
    }
    return h;
}

extern "C" __global__ void small_steps(const float* x, float* y, unsigned seed, int rows, int columns)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < rows) {
        float total = 0.0f;
        for (int i = 0; i < columns; i++) {
            unsigned bits = __float_as_uint(total + x[row * columns + i]);
            //@ round
            if (STOCHASTIC) {
                bits += hash(seed, row * columns + i) & 0xffff;  // anything from 0 to just below a step
            } else {
                bits += 0x7fff + ((bits >> 16) & 1);  // nearest, ties to even
            }
            total = __uint_as_float(bits & 0xffff0000);
            //@ end
        }
        y[row] = total;
    }
}
