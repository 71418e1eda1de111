// TODO: x[i][j] and x[j][i] change places. So far nothing moves.
// lockstep: grid = ceil_div(n, 32), ceil_div(n, 32)
// lockstep: block = 32, 8
extern "C" __global__ void transpose_in_place(float* x, int n) {
    int column = blockIdx.x * 32 + threadIdx.x;
    for (int row = blockIdx.y * 32 + threadIdx.y; row < min(n, (int)(blockIdx.y + 1) * 32); row += blockDim.y) {
        if (column < n) x[row * n + column] = x[row * n + column];
    }
}
