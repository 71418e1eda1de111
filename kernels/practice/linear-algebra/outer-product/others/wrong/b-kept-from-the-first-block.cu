// Keeps b in shared memory, loaded from the start of b in every block.
// rejected for: wrong_output
// leads to: column meets b
extern "C" __global__ void outer(const float* a, const float* b, float* c, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    __shared__ float kept[32];
    if (threadIdx.y == 0 && column < n) kept[threadIdx.x] = b[threadIdx.x];
    __syncthreads();
    if (row < m && column < n) c[(long long)row * n + column] = a[row] * kept[threadIdx.x];
}
