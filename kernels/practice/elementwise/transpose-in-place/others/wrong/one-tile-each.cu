// As with two buffers: each block loads its own tile and stores it transposed at the mirror place.
// rejected for: race
// leads to: one owner
extern "C" __global__ void transpose_in_place(float* x, int n) {
    __shared__ float tile[32][33];
    int c = blockIdx.x * 32 + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += 8) {
        int r = blockIdx.y * 32 + k;
        if (r < n && c < n) tile[k][threadIdx.x] = x[r * n + c];
    }
    __syncthreads();
    c = blockIdx.y * 32 + threadIdx.x;
    for (int k = threadIdx.y; k < 32; k += 8) {
        int r = blockIdx.x * 32 + k;
        if (r < n && c < n) x[r * n + c] = tile[threadIdx.x][k];
    }
}
