// A little class that hides the swizzle.
#include "lab.cuh"
struct Tile {
    float* w;
    __device__ float& operator()(int r, int c) { return w[r * 128 + (c & 96) + ((c ^ r) & 31)]; }
};
extern "C" __global__ void transpose(const float* x, float* y, int rows, int columns)
{
    extern __shared__ float raw[];
    Tile tile{raw};
    const int r0 = 96 * blockIdx.y, c0 = 128 * blockIdx.x;
    const int h = min(96, rows - r0), v = min(128, columns - c0);
    const float* from = x + (size_t)r0 * columns + c0;
    for (int r = threadIdx.y; r < h; r += blockDim.y)
        for (int c = threadIdx.x; c < v; c += blockDim.x) tile(r, c) = from[(size_t)r * columns + c];
    __syncthreads();
    float* to = y + (size_t)c0 * rows + r0;
    for (int c = threadIdx.y; c < v; c += blockDim.y)
        for (int r = threadIdx.x; r < h; r += blockDim.x) to[(size_t)c * rows + r] = tile(r, c);
}
