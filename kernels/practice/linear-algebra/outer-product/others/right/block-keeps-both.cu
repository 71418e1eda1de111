// Both arrays of a block in shared memory.
extern "C" __global__ void outer(const float* a, const float* b, float* c, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    __shared__ float left[8], top[32];
    if (threadIdx.y == 0) top[threadIdx.x] = column < n ? b[column] : 0;
    if (threadIdx.x == 0) left[threadIdx.y] = row < m ? a[row] : 0;
    __syncthreads();
    if (row < m && column < n) c[(long long)row * n + column] = left[threadIdx.y] * top[threadIdx.x];
}
