// Each block copies 32 x 32 floats down the columns: neighboring threads are 128 bytes apart.
extern "C" __global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * 1024 + threadIdx.x * 32 + threadIdx.y;
    if (i < n) y[i] = x[i];
}
