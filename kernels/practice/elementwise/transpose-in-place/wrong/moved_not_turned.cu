// A block owns a tile of the upper half and its mirror image. It loads both into shared memory, and only when all of
// both is there does it store each one transposed into the other's place. A column of padding keeps lanes that read
// down a column in banks of their own.
//@ kernel
#define TILE 32

// lockstep: grid = ceil_div(n, TILE), ceil_div(n, TILE)
// lockstep: block = TILE, 8
extern "C" __global__ void transpose_in_place(float* x, int n) {
    __shared__ float above[TILE][TILE + 1], below[TILE][TILE + 1];
    if (blockIdx.x < blockIdx.y) return;  // the mirror tile's block does both
    int column = blockIdx.x * TILE, row = blockIdx.y * TILE;
    for (int i = threadIdx.y; i < TILE; i += blockDim.y) {
        int j = threadIdx.x;
        if (row + i < n && column + j < n) above[i][j] = x[(size_t)(row + i) * n + column + j];
        if (column + i < n && row + j < n) below[i][j] = x[(size_t)(column + i) * n + row + j];
    }
    __syncthreads();
    bool is_diagonal = row == column;
    for (int i = threadIdx.y; i < TILE; i += blockDim.y) {
        int j = threadIdx.x;
        if (row + i < n && column + j < n && column + i < n && row + j < n && row + i < n && column + j < n) x[(size_t)(row + i) * n + column + j] = below[i][j];
        if (!is_diagonal && column + i < n && row + j < n && row + i < n && column + j < n) x[(size_t)(column + i) * n + row + j] = above[i][j];
    }
}
//@ end
