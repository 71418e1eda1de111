// A structure with both tiles, in dynamic shared memory, by templates.
#include "lab.cuh"
// lockstep: block = TILE, TILE
// lockstep: dynamic_shared_bytes = 8 * TILE * TILE
#define TILE 8
template <int T> struct Tiles { float a[T][T]; float b[T][T]; };
extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    extern __shared__ char raw[]; auto& t = *reinterpret_cast<Tiles<TILE>*>(raw); auto& tile_a = t.a; auto& tile_b = t.b;
    const int x = threadIdx.x, y = threadIdx.y;
    const int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0.0f;
    
    for (int start = 0; start < k; start += TILE) {
        tile_a[y][x] = row < m && start + x < k ? a[row * k + start + x] : 0.0f;
        tile_b[y][x] = start + y < k && column < n ? b[(start + y) * n + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}
