// Kernels for the judge's tests: one that is right and one for each way of being wrong.
// judge.ptx is this file compiled by NVRTC 13.5 with `--gpu-architecture=sm_90a -lineinfo`; tests that need a GPU or
// a fresh compilation compile it again.

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

extern "C" __global__ void no_bounds_check(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

// Reads in bounds, writes one element past the end.
extern "C" __global__ void writes_past_end(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
    if (i == 0) c[n] = 1.0f;
}

extern "C" __global__ void last_element_missing(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1) c[i] = a[i] + b[i];
}

extern "C" __global__ void subtracts(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] - b[i];
}

extern "C" __global__ void changes_input(float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        c[i] = a[i] + b[i];
        a[i] = 0.0f;
    }
}

extern "C" __global__ void accumulates_into_output(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] += a[i] + b[i];
}

// Every thread of a block takes its sum from a neighbour without waiting for it.
extern "C" __global__ void races(const float* a, const float* b, float* c, int n) {
    __shared__ float sums[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int t = threadIdx.x;
    sums[t] = i < n ? a[i] + b[i] : 0.0f;
    int other = 255 - t;
    int j = blockIdx.x * blockDim.x + other;
    if (j < n) c[j] = sums[other];
}

// The compiler cannot know that n stays what it is: the store is volatile.
extern "C" __global__ void never_ends(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    volatile float* out = c;
    while (n > 0) out[i < n ? i : 0] = a[0];
}

extern "C" __global__ void traps(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
    if (i == 0) asm volatile("trap;");
}

// Far past every guard zone.
extern "C" __global__ void far_out(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[(long long)i + (1ll << 40)] = a[i] + b[i];
}

// Writes a constant and reads nothing: impossibly fast, and wrong.
extern "C" __global__ void does_nothing(const float* a, const float* b, float* c, int n) {
    if (n < 0) c[0] = a[0] + b[0];
}

// Right at small sizes only: what a benchmark must not believe.
extern "C" __global__ void lazy_when_large(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && n < (1 << 20)) c[i] = a[i] + b[i];
}

// Four elements a thread in one 16-byte access: enough bytes in flight to reach the memory's bandwidth.
extern "C" __global__ void vector_add_wide(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int wide = n / 4;
    if (i < wide) {
        float4 x = reinterpret_cast<const float4*>(a)[i];
        float4 y = reinterpret_cast<const float4*>(b)[i];
        reinterpret_cast<float4*>(c)[i] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
    }
    if (i < n % 4) c[4 * wide + i] = a[4 * wide + i] + b[4 * wide + i];
}

extern "C" __global__ void swaps_rows_and_columns(const float* a, const float* b, float* c, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row < m && column < n) c[column * m + row] = a[row * n + column] + b[row * n + column];
}

extern "C" __global__ void prints(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
    if (i == 0) printf("n is %d\n", n);
}
