#include "lab.cuh"

// As solution.cu, with a tile of 2,048 scores at a time: each thread loads 8 of them as two float4, finds their maximum, and
// rescales its sum at most once for all eight. At most 256 parts a row, so that merging them stays cheap.
// lockstep: partials.block = THREADS
// lockstep: partials.grid = min(ceil_div(columns, TILE), 256), rows
// lockstep: weights.block = THREADS
// lockstep: weights.grid = min(ceil_div(columns, TILE), 256), rows
#define THREADS 256
#define TILE 2048

__device__ void merge(float& m, float& l, float other_m, float other_l)
{
    const float most = fmaxf(m, other_m);
    if (most > -INFINITY) {
        l = l * __expf(m - most) + other_l * __expf(other_m - most);
        m = most;
    }
}

// Every thread gets the (m, l) of the whole block. The maximum is found first, so that each thread rescales once.
__device__ void merge_block(float& m, float& l)
{
    __shared__ float part_m[THREADS / 32], part_l[THREADS / 32];
    float most = m;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        most = fmaxf(most, __shfl_xor_sync(FULL_MASK, most, distance));
    }
    l = most > -INFINITY ? l * __expf(m - most) : 0.0f;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        l += __shfl_xor_sync(FULL_MASK, l, distance);
    }
    if (threadIdx.x % 32 == 0) {
        part_m[threadIdx.x / 32] = most;
        part_l[threadIdx.x / 32] = l;
    }
    __syncthreads();
    m = -INFINITY;
    l = 0.0f;
#pragma unroll
    for (int warp = 0; warp < THREADS / 32; warp++) {
        m = fmaxf(m, part_m[warp]);
    }
    if (m > -INFINITY) {
#pragma unroll
        for (int warp = 0; warp < THREADS / 32; warp++) {
            l += part_l[warp] * __expf(part_m[warp] - m);
        }
    }
}

// Where the block's chunk begins and ends: whole tiles, but for the row's end.
__device__ void chunk(int columns, int& first, int& end)
{
    const int size = round_up(ceil_div(columns, (int)gridDim.x), TILE);
    first = least((long long)blockIdx.x * size, (long long)columns);
    end = least(first + (long long)size, (long long)columns);
}

// The 8 scores of a thread in the tile at `first`, -INFINITY where there is none.
__device__ void load(float (&v)[8], const float* row, int first, int end, bool fours)
{
#pragma unroll
    for (int half = 0; half < 2; half++) {
        if (fours) {
            const int i = first + 4 * threadIdx.x + half * 4 * THREADS;
            const float4 four = i < end ? *reinterpret_cast<const float4*>(row + i)
                                        : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
            v[4 * half] = four.x;
            v[4 * half + 1] = four.y;
            v[4 * half + 2] = four.z;
            v[4 * half + 3] = four.w;
        } else {
#pragma unroll
            for (int k = 4 * half; k < 4 * half + 4; k++) {
                const int i = first + threadIdx.x + k * THREADS;
                v[k] = i < end ? row[i] : -INFINITY;
            }
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) partials(
    const float* __restrict__ x, float* __restrict__ part_max, float* __restrict__ part_sum, int rows, int columns)
{
    const float* row = x + (long long)blockIdx.y * columns;
    int first, end;
    chunk(columns, first, end);

    float m = -INFINITY, l = 0.0f;
    for (; first < end; first += TILE) {
        float v[8];
        load(v, row, first, end, columns % 4 == 0);
        const float most = fmaxf(
            fmaxf(m, fmaxf(fmaxf(v[0], v[1]), fmaxf(v[2], v[3]))), fmaxf(fmaxf(v[4], v[5]), fmaxf(v[6], v[7])));
        if (most > -INFINITY) {
            l *= __expf(m - most);
#pragma unroll
            for (int k = 0; k < 8; k++) {
                l += __expf(v[k] - most);
            }
            m = most;
        }
    }
    merge_block(m, l);

    if (threadIdx.x == 0) {
        part_max[blockIdx.y * gridDim.x + blockIdx.x] = m;
        part_sum[blockIdx.y * gridDim.x + blockIdx.x] = l;
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) weights(
    const float* __restrict__ x, const float* __restrict__ part_max, const float* __restrict__ part_sum,
    float* __restrict__ y, float* __restrict__ lse, int rows, int columns)
{
    const float* row = x + (long long)blockIdx.y * columns;
    float* to = y + (long long)blockIdx.y * columns;
    int first, end;
    chunk(columns, first, end);

    float m = -INFINITY, l = 0.0f;
    if (threadIdx.x < gridDim.x) {
        m = part_max[blockIdx.y * gridDim.x + threadIdx.x];
        l = part_sum[blockIdx.y * gridDim.x + threadIdx.x];
    }
    merge_block(m, l);
    const float scale = 1.0f / l;

    const bool fours = columns % 4 == 0;
    for (; first < end; first += TILE) {
        float v[8];
        load(v, row, first, end, fours);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            v[k] = __expf(v[k] - m) * scale;
        }
#pragma unroll
        for (int k = 0; k < 8; k++) {
            if (!fours) {
                const int i = first + threadIdx.x + k * THREADS;
                if (i < end) {
                    to[i] = v[k];
                }
            } else if (k % 4 == 0) {
                const int i = first + 4 * threadIdx.x + k * THREADS;
                if (i < end) {
                    __stcs(reinterpret_cast<float4*>(to + i), make_float4(v[k], v[k + 1], v[k + 2], v[k + 3]));
                }
            }
        }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        lse[blockIdx.y] = m + logf(l);
    }
}
