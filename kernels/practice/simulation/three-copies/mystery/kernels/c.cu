// Even and odd threads do the same work in different branches. The empty asm keeps the compiler from making one of them.
extern "C" __global__ void copy(const float* x, float* y, int n) {
    int i = blockIdx.x * 1024 + threadIdx.y * 32 + threadIdx.x;
    if (i >= n) return;
    if (threadIdx.x % 2 == 0) {
        y[i] = x[i];
    } else {
        float value = x[i];
        asm volatile("" : "+f"(value));
        y[i] = value;
    }
}
