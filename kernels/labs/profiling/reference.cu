#include "lab.cuh"

// The four kernels, fixed: a warp for a row in the two sums, a thread for a row in `finish`, and one reciprocal root.
// lockstep: row_means.grid = ceil_div(m, 4)
// lockstep: row_squares.grid = ceil_div(m, 4)
// lockstep: row_squares.block = 128
// lockstep: finish.grid = ceil_div(m, 128)
// lockstep: finish.block = 128
// lockstep: normalize.grid = m, ceil_div(n, 4 * block_x)

//@ warp
// The sum of 32 lanes, in all of them.
__device__ float warp_sum(float sum)
{
    for (int distance = 16; distance > 0; distance /= 2) {
        sum += __shfl_xor_sync(FULL_MASK, sum, distance);
    }
    return sum;
}
//@ end

// The sum over a row of (x - shift) or of its square, by one warp.
template <bool SQUARES>
__device__ float row_sum(const float* x, float shift, int n)
{
    const int lane = threadIdx.x % 32;
    float sum = 0.0f;
    if (n % 4 == 0) {
#pragma unroll 4
        for (int i = lane; i < n / 4; i += 32) {
            const float4 v = reinterpret_cast<const float4*>(x)[i];
            const float a = v.x - shift, b = v.y - shift, c = v.z - shift, d = v.w - shift;
            sum += SQUARES ? (a * a + b * b) + (c * c + d * d) : (a + b) + (c + d);
        }
    } else {
        for (int i = lane; i < n; i += 32) {
            const float d = x[i] - shift;
            sum += SQUARES ? d * d : d;
        }
    }
    return warp_sum(sum);
}

extern "C" __global__ void row_means(const float* x, float* mean, int m, int n)
{
    const int row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= m) {
        return;  // the whole warp leaves
    }
    const float sum = row_sum<false>(x + (long long)row * n, 0.0f, n);
    if (threadIdx.x % 32 == 0) {
        mean[row] = sum / n;
    }
}

extern "C" __global__ void row_squares(const float* x, const float* mean, float* squares, int m, int n)
{
    const int row = blockIdx.x * 4 + threadIdx.x / 32;
    if (row >= m) {
        return;
    }
    const float sum = row_sum<true>(x + (long long)row * n, mean[row], n);
    if (threadIdx.x % 32 == 0) {
        squares[row] = sum;
    }
}

extern "C" __global__ void finish(const float* squares, float* variance, int m, int n, float epsilon)
{
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m) {
        variance[row] = squares[row] / n + epsilon;
    }
}

extern "C" __global__ void normalize(const float* x, const float* mean, const float* variance, const float* weight,
                                     const float* bias, float* y, int m, int n)
{
    const int row = blockIdx.x;
    const float middle = mean[row];
    const float factor = rsqrtf(variance[row]);
    const float* from = x + (long long)row * n;
    float* to = y + (long long)row * n;
    const int first = 4 * (blockIdx.y * blockDim.x + threadIdx.x);
    if (n % 4 == 0) {
        if (first < n) {
            const float4 v = *reinterpret_cast<const float4*>(from + first);
            const float4 w = *reinterpret_cast<const float4*>(weight + first);
            const float4 b = *reinterpret_cast<const float4*>(bias + first);
            *reinterpret_cast<float4*>(to + first) =
                make_float4((v.x - middle) * factor * w.x + b.x, (v.y - middle) * factor * w.y + b.y,
                            (v.z - middle) * factor * w.z + b.z, (v.w - middle) * factor * w.w + b.w);
        }
    } else {
        for (int i = first; i < n && i < first + 4; i++) {
            to[i] = (from[i] - middle) * factor * weight[i] + bias[i];
        }
    }
}
