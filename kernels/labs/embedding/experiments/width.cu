#include "lab.cuh"
#include <cuda_fp16.h>

// A lane copies HALVES elements at once; rows that do not divide go one by one.
// does not reach: Nine tenths of a copy
// does not reach: As good as a copy
// lockstep: block = 128
// lockstep: grid = tokens
#define HALVES 1

struct alignas(2 * HALVES) Piece {
    __half part[HALVES];
};

extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    const __half* from = table + (long long)ids[blockIdx.x] * d;
    __half* to = y + (long long)blockIdx.x * d;
    if (d % HALVES == 0) {
        const Piece* wide = reinterpret_cast<const Piece*>(from);
        for (int i = threadIdx.x; i < d / HALVES; i += blockDim.x) {
            reinterpret_cast<Piece*>(to)[i] = wide[i];
        }
    } else {
        for (int i = threadIdx.x; i < d; i += blockDim.x) {
            to[i] = from[i];
        }
    }
}
