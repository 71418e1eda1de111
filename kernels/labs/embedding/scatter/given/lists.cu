#include "lab.cuh"

// Lists of the rows that are 1 in each column of a matrix of zeros and ones, one thread a column.

// How many: offsets[column + 1], to be added up.
extern "C" __global__ void count_columns(const unsigned char* members, int* offsets, int rows, int columns)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) {
        return;
    }
    int count = 0;
    for (int row = 0; row < rows; row++) {
        count += members[(long long)row * columns + column];
    }
    offsets[column + 1] = count;
    if (column == 0) {
        offsets[0] = 0;
    }
}

// Running sums, by one warp.
extern "C" __global__ void make_offsets(int* offsets, int count)
{
    int before = 0;
    for (int first = 0; first < count; first += 32) {
        const int i = first + threadIdx.x;
        int sum = i < count ? offsets[i + 1] : 0;
        for (int distance = 1; distance < 32; distance *= 2) {
            const int other = __shfl_up_sync(FULL_MASK, sum, distance);
            sum += threadIdx.x >= distance ? other : 0;
        }
        if (i < count) {
            offsets[i + 1] = before + sum;
        }
        before += __shfl_sync(FULL_MASK, sum, 31);
    }
}

extern "C" __global__ void list_columns(
    const unsigned char* members, const int* offsets, int* ids, int rows, int columns)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= columns) {
        return;
    }
    int next = offsets[column];
    for (int row = 0; row < rows; row++) {
        if (members[(long long)row * columns + column] != 0) {
            ids[next++] = row;
        }
    }
}
