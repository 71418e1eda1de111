// Checks the columns only.
// rejected for: out_of_bounds
// leads to: rows
extern "C" __global__ void transpose_in_place(float* x, int n) {
    __shared__ float a[32][33], b[32][33];
    if (blockIdx.x < blockIdx.y) return;
    int c = blockIdx.x * 32, r = blockIdx.y * 32, j = threadIdx.x;
    for (int i = threadIdx.y; i < 32; i += 8) {
        if (c + j < n) a[i][j] = x[(r + i) * n + c + j];
        if (r + j < n) b[i][j] = x[(c + i) * n + r + j];
    }
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 8) {
        if (c + j < n) x[(r + i) * n + c + j] = b[j][i];
        if (r + j < n) x[(c + i) * n + r + j] = a[j][i];
    }
}
