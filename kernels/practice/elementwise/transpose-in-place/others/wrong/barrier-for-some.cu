// Only threads within the matrix wait.
// rejected for: barrier_divergence
// leads to: barrier
extern "C" __global__ void transpose_in_place(float* x, int n) {
    __shared__ float a[32][33], b[32][33];
    if (blockIdx.x < blockIdx.y) return;
    int c = blockIdx.x * 32, r = blockIdx.y * 32, j = threadIdx.x;
    for (int i = threadIdx.y; i < 32; i += 8) {
        if (r + i < n && c + j < n) a[i][j] = x[(r + i) * n + c + j];
        if (c + i < n && r + j < n) b[i][j] = x[(c + i) * n + r + j];
    }
    if (c + j < n) __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 8) {
        if (r + i < n && c + j < n) x[(r + i) * n + c + j] = b[j][i];
        if (c + i < n && r + j < n) x[(c + i) * n + r + j] = a[j][i];
    }
}
