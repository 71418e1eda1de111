#include "tma.cuh"

// y = x transposed by boxes, in squares of 4 x 4 through registers: 64 threads, one square each, 16 bytes at a time.
//
// Thread t has square column t % 8 and square row t / 8 ^ t % 8. Along such a diagonal, 8 threads in a row touch 8 different
// pieces of 16 bytes in both swizzled tiles, so neither side has a bank conflict.
// lockstep: block = 64
// lockstep: grid = ceil_div(columns, 32), ceil_div(rows, 32)

__device__ inline float4& piece(float* tile, int row, int number)
{
    return reinterpret_cast<float4*>(tile)[row * 8 + (number ^ row % 8)];
}

extern "C" __global__ void __launch_bounds__(64)
    transpose(const float* x, float* y, const __grid_constant__ CUtensorMap x_map, const __grid_constant__ CUtensorMap y_map,
              int rows, int columns)
{
    __shared__ __align__(1024) float in[32 * 32];
    __shared__ __align__(1024) float out[32 * 32];
    __shared__ uint64_t full;
    const uint32_t barrier = shared_address(&full);
    const int row = blockIdx.y * 32, column = blockIdx.x * 32;

    if (threadIdx.x == 0) {
        barrier_init(barrier, 1);
        barrier_init_fence();
        barrier_expect(barrier, sizeof(in));
        load_box(shared_address(in), &x_map, barrier, column, row);
    }
    __syncthreads();
    barrier_wait(barrier, 0);

    const int c = threadIdx.x % 8, r = threadIdx.x / 8 ^ c;
    float4 v[4];
#pragma unroll
    for (int e = 0; e < 4; e++) v[e] = piece(in, 4 * r + e, c);
    piece(out, 4 * c + 0, r) = make_float4(v[0].x, v[1].x, v[2].x, v[3].x);
    piece(out, 4 * c + 1, r) = make_float4(v[0].y, v[1].y, v[2].y, v[3].y);
    piece(out, 4 * c + 2, r) = make_float4(v[0].z, v[1].z, v[2].z, v[3].z);
    piece(out, 4 * c + 3, r) = make_float4(v[0].w, v[1].w, v[2].w, v[3].w);

    fence_async_shared();
    __syncthreads();
    if (threadIdx.x == 0) {
        store_box(&y_map, shared_address(out), row, column);
        store_commit();
        store_wait_read<0>();
    }
}
