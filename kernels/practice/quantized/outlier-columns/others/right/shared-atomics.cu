// The maxima meet by atomics on the bits: floats of at least 0 are in the order of their bits.
extern "C" __global__ void quantize_columns(const float* x, signed char* codes, float* scale, int m, int n) {
    __shared__ int most[32];
    int c = threadIdx.x, column = blockIdx.x * 32 + c;
    if (threadIdx.y == 0) most[c] = 0;
    __syncthreads();
    for (int row = threadIdx.y; row < m && column < n; row += 8)
        atomicMax(&most[c], __float_as_int(x[(long long)row * n + column]) & 0x7fffffff);
    __syncthreads();
    float step = __int_as_float(most[c]) / 127.0f;
    if (threadIdx.y == 7 && column < n) scale[column] = step;
    for (int row = threadIdx.y; row < m && column < n; row += 8) {
        float q = step > 0 ? nearbyintf(x[(long long)row * n + column] / step) : 0;
        codes[(long long)row * n + column] = q;
    }
}
