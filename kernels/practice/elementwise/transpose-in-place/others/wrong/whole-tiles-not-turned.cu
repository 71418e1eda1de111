// Where n is a multiple of 32 it moves whole tiles, and forgets to transpose them.
// rejected for: wrong_output
// leads to: store b[j][i]
extern "C" __global__ void transpose_in_place(float* x, int n) {
    __shared__ float a[32][33], b[32][33];
    if (blockIdx.x < blockIdx.y) return;
    int c = blockIdx.x * 32, r = blockIdx.y * 32, j = threadIdx.x;
    for (int i = threadIdx.y; i < 32; i += 8) {
        if (r + i < n && c + j < n) a[i][j] = x[(r + i) * n + c + j];
        if (c + i < n && r + j < n) b[i][j] = x[(c + i) * n + r + j];
    }
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 8) {
        if (r + i < n && c + j < n) x[(r + i) * n + c + j] = n % 32 ? b[j][i] : b[i][j];
        if (c + i < n && r + j < n && r != c) x[(c + i) * n + r + j] = n % 32 ? a[j][i] : a[i][j];
    }
}
