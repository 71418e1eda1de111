#include "lab.cuh"

// Vector addition as fast as memory allows: what benchmarks compare with. solution.cu is the plain answer.
//
// The arithmetic is the same; only the number of bytes on their way differs. A thread that loads two floats
// and waits keeps 8 bytes in flight; the 2048 threads of a full multiprocessor keep 16 KB. An H200 needs about twice
// that to be busy (4.8 TB/s x 0.8 us / 132 multiprocessors = 29 KB), so here a thread first loads VECTORS float4
// from each array and adds afterwards. Blocks of 128 threads because the end of the grid then idles least: on one
// H200 they ran at 0.99 of a copy's rate at n = 2^24 and 1.02 at 2^28, blocks of 256 at 0.97 and 1.01.
// lockstep: block = BLOCK
// lockstep: grid = ceil_div(n, 4 * VECTORS * block_x)
#define BLOCK 128
#define VECTORS 2

extern "C" __global__ void vector_add(const float* __restrict__ a, const float* __restrict__ b,
                                      float* __restrict__ c, int n)
{
    // The block owns a stretch of 4 * VECTORS * blockDim.x elements; in each of the VECTORS rounds its threads touch
    // neighboring float4.
    const long long first = 4ll * VECTORS * blockDim.x * blockIdx.x + 4ll * threadIdx.x;
    const long long round = 4ll * blockDim.x;

    if (first + (VECTORS - 1) * round + 3 < n) {
        float4 x[VECTORS], y[VECTORS];
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            x[v] = *reinterpret_cast<const float4*>(a + first + v * round);
            y[v] = *reinterpret_cast<const float4*>(b + first + v * round);
        }
#pragma unroll
        for (int v = 0; v < VECTORS; v++) {
            *reinterpret_cast<float4*>(c + first + v * round) =
                make_float4(x[v].x + y[v].x, x[v].y + y[v].y, x[v].z + y[v].z, x[v].w + y[v].w);
        }
        return;
    }
    // The end of the vectors, one element at a time.
    for (int v = 0; v < VECTORS; v++) {
        for (int k = 0; k < 4; k++) {
            const long long i = first + v * round + k;
            if (i < n) {
                c[i] = a[i] + b[i];
            }
        }
    }
}
