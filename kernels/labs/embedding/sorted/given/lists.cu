#include "lab.cuh"

// Lists of the columns that are 1 in each row of a matrix of zeros and ones, one warp a row.

// How many: offsets[row + 1], to be added up.
extern "C" __global__ void count_members(const unsigned char* members, int* offsets, int rows, int columns)
{
    const long long row = blockIdx.x;
    int count = 0;
    for (int first = 0; first < columns; first += 32) {
        const int column = first + threadIdx.x;
        count += __popc(__ballot_sync(FULL_MASK, column < columns && members[row * columns + column] != 0));
    }
    if (threadIdx.x == 0) {
        offsets[row + 1] = count;
        if (row == 0) {
            offsets[0] = 0;
        }
    }
}

// Running sums, by one warp.
extern "C" __global__ void make_offsets(int* offsets, int rows)
{
    int before = 0;
    for (int first = 0; first < rows; first += 32) {
        const int row = first + threadIdx.x;
        int sum = row < rows ? offsets[row + 1] : 0;
        for (int distance = 1; distance < 32; distance *= 2) {
            const int other = __shfl_up_sync(FULL_MASK, sum, distance);
            sum += threadIdx.x >= distance ? other : 0;
        }
        if (row < rows) {
            offsets[row + 1] = before + sum;
        }
        before += __shfl_sync(FULL_MASK, sum, 31);
    }
}

extern "C" __global__ void list_members(
    const unsigned char* members, const int* offsets, int* ids, int rows, int columns)
{
    const long long row = blockIdx.x;
    int next = offsets[row];
    for (int first = 0; first < columns; first += 32) {
        const int column = first + threadIdx.x;
        const bool is_member = column < columns && members[row * columns + column] != 0;
        const unsigned all = __ballot_sync(FULL_MASK, is_member);
        if (is_member) {
            ids[next + __popc(all & ((1u << threadIdx.x) - 1))] = column;
        }
        next += __popc(all);
    }
}
