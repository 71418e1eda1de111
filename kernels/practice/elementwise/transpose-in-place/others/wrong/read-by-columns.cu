// Loads the lower tile transposed already, and transposes it once more at the store.
// rejected for: wrong_output
// leads to: transpose once
extern "C" __global__ void transpose_in_place(float* x, int n) {
    __shared__ float a[32][33], b[32][33];
    if (blockIdx.x < blockIdx.y) return;
    int c = blockIdx.x * 32, r = blockIdx.y * 32, j = threadIdx.x;
    for (int i = threadIdx.y; i < 32; i += 8) {
        a[i][j] = r + i < n && c + j < n ? x[(r + i) * n + c + j] : 0;
        b[j][i] = c + i < n && r + j < n ? x[(c + i) * n + r + j] : 0;
    }
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 8) {
        if (r + i < n && c + j < n) x[(r + i) * n + c + j] = b[j][i];
        if (c + i < n && r + j < n && r != c) x[(c + i) * n + r + j] = a[j][i];
    }
}
