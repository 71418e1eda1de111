// Transposes every tile where it is.
// rejected for: wrong_output
// leads to: mirror
extern "C" __global__ void transpose_in_place(float* x, int n) {
    __shared__ float a[32][33];
    if (false) return;
    int c = blockIdx.x * 32, r = blockIdx.y * 32, j = threadIdx.x;
    for (int i = threadIdx.y; i < 32; i += 8) {
        if (r + i < n && c + j < n) a[i][j] = x[(r + i) * n + c + j];
    }
    __syncthreads();
    for (int i = threadIdx.y; i < 32; i += 8) {
        if (r + i < n && c + j < n && r + j < n && c + i < n) x[(r + i) * n + c + j] = a[j][i];
    }
}
