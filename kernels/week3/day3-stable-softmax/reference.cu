#include "lab.cuh"

// A row stays in registers between its one load and its one store, up to 8 float4 a thread: 32,768 columns. Longer rows, and
// those whose length is no multiple of 4, are read twice, with a maximum and a sum that each thread keeps up to date.
// lockstep: block = min(1024, round_up(ceil_div(columns, 4), 32))
// lockstep: grid = rows

// Combines a value of every thread with `with`, which is given two of them; all threads get the result.
template <typename With>
__device__ float in_block(float value, float* part, float nothing, With with)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value = with(value, __shfl_xor_sync(FULL_MASK, value, distance));
    }
    const int lane = threadIdx.x % 32, warps = blockDim.x / 32;
    if (warps == 1) {
        return value;
    }
    if (lane == 0) {
        part[threadIdx.x / 32] = value;
    }
    __syncthreads();
    value = lane < warps ? part[lane] : nothing;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
        value = with(value, __shfl_xor_sync(FULL_MASK, value, distance));
    }
    return value;
}

struct Larger
{
    __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

struct Sum
{
    __device__ float operator()(float a, float b) const { return a + b; }
};

// A row of at most 4 * FOURS floats a thread.
template <int FOURS>
__device__ void held(const float4* from, float4* to, float* lse, int fours, float* parts)
{
    float4 v[FOURS];
    float most = -INFINITY;
#pragma unroll
    for (int k = 0; k < FOURS; k++) {
        const int i = threadIdx.x + k * blockDim.x;
        v[k] = i < fours ? __ldcs(from + i) : make_float4(-INFINITY, -INFINITY, -INFINITY, -INFINITY);
    }
#pragma unroll
    for (int k = 0; k < FOURS; k++) {
        most = fmaxf(most, fmaxf(fmaxf(v[k].x, v[k].y), fmaxf(v[k].z, v[k].w)));
    }
    most = in_block(most, parts, -INFINITY, Larger());

    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < FOURS; k++) {
        v[k] = make_float4(__expf(v[k].x - most), __expf(v[k].y - most), __expf(v[k].z - most), __expf(v[k].w - most));
        sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    }
    sum = in_block(sum, parts + 32, 0.0f, Sum());

    const float scale = 1.0f / sum;
#pragma unroll
    for (int k = 0; k < FOURS; k++) {
        const int i = threadIdx.x + k * blockDim.x;
        if (i < fours) {
            __stcs(to + i, make_float4(v[k].x * scale, v[k].y * scale, v[k].z * scale, v[k].w * scale));
        }
    }
    if (threadIdx.x == 0) {
        *lse = most + logf(sum);
    }
}

extern "C" __global__ void __launch_bounds__(1024)
    softmax_rows(const float* __restrict__ x, float* __restrict__ y, float* __restrict__ lse, int rows, int columns)
{
    __shared__ float parts[64];
    const float* from = x + (long long)blockIdx.x * columns;
    float* to = y + (long long)blockIdx.x * columns;

    const int each = ceil_div(columns, 4 * (int)blockDim.x);  // float4 a thread
    if (columns % 4 == 0 && each <= 8) {
        const float4* from4 = reinterpret_cast<const float4*>(from);
        float4* to4 = reinterpret_cast<float4*>(to);
        if (each <= 1) {
            held<1>(from4, to4, lse + blockIdx.x, columns / 4, parts);
        } else if (each <= 2) {
            held<2>(from4, to4, lse + blockIdx.x, columns / 4, parts);
        } else if (each <= 4) {
            held<4>(from4, to4, lse + blockIdx.x, columns / 4, parts);
        } else {
            held<8>(from4, to4, lse + blockIdx.x, columns / 4, parts);
        }
        return;
    }

    float most = -INFINITY, sum = 0.0f;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        const float score = from[i];
        if (score > most) {
            sum *= __expf(most - score);
            most = score;
        }
        sum += __expf(score - most);
    }
    const float of_row = in_block(most, parts, -INFINITY, Larger());
    // A thread without a score has a sum of 0, and -INFINITY - of_row makes its factor 0 too.
    sum = in_block(sum * __expf(most - of_row), parts + 32, 0.0f, Sum());
    const float scale = 1.0f / sum;
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        __stcs(to + i, __expf(from[i] - of_row) * scale);
    }
    if (threadIdx.x == 0) {
        lse[blockIdx.x] = of_row + logf(sum);
    }
}
