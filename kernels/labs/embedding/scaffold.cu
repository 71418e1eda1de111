#include "lab.cuh"
#include <cuda_fp16.h>

// y[token] = table[ids[token]], a row of d elements. One block copies one row.
extern "C" __global__ void gather_rows(const __half* table, const int* ids, __half* y, int tokens, int d)
{
    const int token = blockIdx.x;

    // TODO: copy row ids[token] of the table to row `token` of y. Neighboring threads take neighboring columns.
    //       Rows may be longer than the block.
    (void)token;
}
