// One thread an element, straight from global memory.
// does not reach: Tiles
// does not reach: Within 2x of cuBLAS
extern "C" __global__ void linear(const float* x, const float* w, const float* bias, float* y, int m, int n, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x;
    int i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i >= m || j >= n) return;
    float acc = bias[j];
    for (int d = 0; d < k; ++d) acc += x[(size_t)i * k + d] * w[(size_t)d * n + j];
    y[(size_t)i * n + j] = fmaxf(acc, 0.25f * acc);
}
