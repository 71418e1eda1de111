// Every row of whole float4 is believed to fit into registers.
// rejected for: never_written
// leads to: which
#include "lab.cuh"

#define THREADS 256
#define KEPT 8  // float4 of a thread

__device__ float block_sum(float value)
{
    __shared__ float part[THREADS / 32];
    for (int distance = 16; distance > 0; distance /= 2) {
        value += __shfl_xor_sync(FULL_MASK, value, distance);
    }
    if (threadIdx.x % 32 == 0) {
        part[threadIdx.x / 32] = value;
    }
    __syncthreads();
    float sum = 0.0f;
    for (int warp = 0; warp < THREADS / 32; warp++) {
        sum += part[warp];
    }
    __syncthreads();
    return sum;
}

// A row of n floats, n a multiple of 4 and at most 4 * KEPT * THREADS: loaded once.
__device__ void from_registers(const float4* row, const float4* weight, const float4* bias, float4* y, int n, float epsilon)
{
    float4 v[KEPT];
    float sum = 0.0f;
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
        const int i = threadIdx.x + k * THREADS;
        v[k] = i < n / 4 ? row[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        sum += (v[k].x + v[k].y) + (v[k].z + v[k].w);
    }
    const float mean = block_sum(sum) / n;
    float squares = 0.0f;
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
        if (threadIdx.x + k * THREADS < n / 4) {
            const float a = v[k].x - mean, b = v[k].y - mean, c = v[k].z - mean, d = v[k].w - mean;
            squares += (a * a + b * b) + (c * c + d * d);
        }
    }
    const float factor = rsqrtf(block_sum(squares) / n + epsilon);
#pragma unroll
    for (int k = 0; k < KEPT; k++) {
        const int i = threadIdx.x + k * THREADS;
        if (i < n / 4) {
            const float4 w = weight[i], b = bias[i];
            y[i] = make_float4((v[k].x - mean) * factor * w.x + b.x, (v[k].y - mean) * factor * w.y + b.y,
                               (v[k].z - mean) * factor * w.z + b.z, (v[k].w - mean) * factor * w.w + b.w);
        }
    }
}

extern "C" __global__ void __launch_bounds__(THREADS) layer_norm(
    const float* x, const float* weight, const float* bias, float* y, int m, int n, float epsilon)
{
    const float* row = x + (long long)blockIdx.x * n;
    float* to = y + (long long)blockIdx.x * n;
    if (n % 4 == 0) {
        from_registers(reinterpret_cast<const float4*>(row), reinterpret_cast<const float4*>(weight),
                       reinterpret_cast<const float4*>(bias), reinterpret_cast<float4*>(to), n, epsilon);
        return;
    }
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        sum += row[i];
    }
    const float mean = block_sum(sum) / n;
    float squares = 0.0f;
    for (int i = threadIdx.x; i < n; i += THREADS) {
        squares += (row[i] - mean) * (row[i] - mean);
    }
    const float factor = rsqrtf(block_sum(squares) / n + epsilon);
    for (int i = threadIdx.x; i < n; i += THREADS) {
        to[i] = (row[i] - mean) * factor * weight[i] + bias[i];
    }
}
