// The instructions of PTX in own functions, and zeros by an ordinary store.
#include "lab.cuh"
__device__ __forceinline__ void cp16(void *to, const float *from, bool inside)
{
    unsigned address = (unsigned)__cvta_generic_to_shared(to);
    asm volatile("{ .reg .pred p; setp.ne.b32 p, %2, 0; @p cp.async.cg.shared.global [%0], [%1], 16;"
                 " @!p st.shared.v4.f32 [%0], {0f00000000, 0f00000000, 0f00000000, 0f00000000}; }" ::"r"(address), "l"(from), "r"((int)inside) : "memory");
}
__device__ __forceinline__ void close() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void at_most() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }


// C = A * B, fetched through a ring of STAGES buffers: while one tile is multiplied, the next STAGES - 1 are in flight.
//
// A is m x k, B is k x n, C is m x n, all row-major; n and k are multiples of 4, so that every row starts at a multiple of
// 16 bytes. A block of 128 threads computes a 32 x 32 tile of C. In one step it needs 32 x 16 floats of A and 16 x 32 of B.
// lockstep: block = 128
// lockstep: grid = ceil_div(n, TILE), ceil_div(m, TILE)
#define TILE 32
#define DEPTH 16
#define STAGES 4

extern "C" __global__ void matmul(const float* a, const float* b, float* c, int m, int n, int k)
{
    __shared__ __align__(16) float tile_a[STAGES][TILE][DEPTH];
    __shared__ __align__(16) float tile_b[STAGES][DEPTH][TILE];
    const int first_row = blockIdx.y * TILE;
    const int first_column = blockIdx.x * TILE;
    const int steps = ceil_div(k, DEPTH);

    // The 16 bytes of each tile that this thread fetches: 32 rows of 4 pieces, and 16 rows of 8 pieces.
    const int a_row = threadIdx.x / 4, a_column = threadIdx.x % 4 * 4;
    const int b_row = threadIdx.x / 8, b_column = threadIdx.x % 8 * 4;

    // Starts this thread's two copies for one step, as one group. Past the last step the group is empty.
    auto fetch = [&](int step) {
        if (step < steps) {
            const int stage = step % STAGES;
            const int row = first_row + a_row, column = step * DEPTH + a_column;
            const bool in_a = row < m && column < k;
            cp16(&tile_a[stage][a_row][a_column], in_a ? a + row * k + column : a, in_a);
            const int row_b = step * DEPTH + b_row, column_b = first_column + b_column;
            const bool in_b = row_b < k && column_b < n;
            cp16(&tile_b[stage][b_row][b_column], in_b ? b + row_b * n + column_b : b, in_b);
        }
        close();
    };

    // This thread's part of C: rows y, y + 8, y + 16, y + 24 and columns x, x + 16 of the tile.
    const int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float sum[4][2] = {};

    for (int step = 0; step < STAGES - 1; step++) {
        fetch(step);
    }

    for (int step = 0; step < steps; step++) {
        const int stage = step % STAGES;
        // Groups 0 to step + STAGES - 2 are committed. Group `step` has to be complete: STAGES - 2 newer ones may be in flight.
        at_most<STAGES - 2>();
        __syncthreads();

        // Into the stage of step - 1: the barrier of this step comes after everyone's last read of it.
        fetch(step + STAGES - 1);

        for (int d = 0; d < DEPTH; d++) {
            for (int i = 0; i < 4; i++) {
                for (int j = 0; j < 2; j++) {
                    sum[i][j] += tile_a[stage][y + 8 * i][d] * tile_b[stage][d][x + 16 * j];
                }
            }
        }
    }

    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 2; j++) {
            const int row = first_row + y + 8 * i, column = first_column + x + 16 * j;
            if (row < m && column < n) {
                c[row * n + column] = sum[i][j];
            }
        }
    }
}
