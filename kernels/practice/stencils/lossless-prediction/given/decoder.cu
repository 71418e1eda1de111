// Adds the residuals up along each row: a warp for each, 32 at a time.
extern "C" __global__ void undo_rows(const int* rest, int* y, int rows, int columns) {
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32, carried = 0;
    if (row >= rows) return;
    for (int first = 0; first < columns; first += 32) {
        int i = first + lane, sum = i < columns ? rest[(size_t)row * columns + i] : 0;
        for (int distance = 1; distance < 32; distance *= 2) {
            int before = __shfl_up_sync(0xffffffffu, sum, distance);
            if (lane >= distance) sum += before;
        }
        sum += carried;
        if (i < columns) y[(size_t)row * columns + i] = sum;
        carried = __shfl_sync(0xffffffffu, sum, 31);
    }
}

// And then down each column: 32 threads share one, a piece of it each. They sum their pieces first, and so learn what
// comes before each.
extern "C" __global__ void undo_columns(int* y, int rows, int columns) {
    __shared__ int sums[32][32];
    int column = blockIdx.x * 32 + threadIdx.x, each = (rows + 31) / 32, first = threadIdx.y * each, sum = 0;
    if (column < columns)
        for (int row = first; row < min(rows, first + each); row++) sum += y[(size_t)row * columns + column];
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (column >= columns) return;
    sum = 0;
    for (int piece = 0; piece < threadIdx.y; piece++) sum += sums[piece][threadIdx.x];
    for (int row = first; row < min(rows, first + each); row++)
        y[(size_t)row * columns + column] = sum += y[(size_t)row * columns + column];
}
