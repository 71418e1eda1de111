// Lanes that share sectors in other ways than side by side, and what stands beside them in ordinary programs. All take
// three buffers of n floats (read as what they need) and a number.

extern "C" {

// An array of structures is written.
__global__ void points(const float* a, const float* b, float3* c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (3 * i + 2 < n) c[i] = make_float3(a[i], b[i], a[i] + b[i]);
}

__global__ void pixels3(const unsigned char* a, const float* b, uchar3* c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (3 * i + 2 < n) c[i] = make_uchar3(a[i], a[i] / 2, a[i] / 3);
}

__global__ void every_second(const float* a, const float* b, float* c, unsigned n) {
    unsigned i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n) c[i] = 2.0f * a[i];
}

// One colour of a red-black sweep, in place.
__global__ void red_black(const float* a, const float* b, float* c, unsigned n) {
    unsigned y = blockIdx.y * blockDim.y + threadIdx.y;
    unsigned x = 2 * (blockIdx.x * blockDim.x + threadIdx.x) + (y & 1);
    if (x > 0 && x + 1 < n && y > 0 && y + 1 < n) {
        c[y * n + x] = 0.25f * (c[y * n + x - 1] + c[y * n + x + 1] + c[(y - 1) * n + x] + c[(y + 1) * n + x]);
    }
}

__global__ void mirror(const float* a, const float* b, float* c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[n - 1 - i] = a[i];
}

// Blelloch's scan, with its bank conflicts.
__global__ void sweeps(const float* a, const float* b, float* c, unsigned n) {
    __shared__ float t[512];
    unsigned i = threadIdx.x, at = blockIdx.x * 512, step = 1;
    t[2 * i] = a[at + 2 * i];
    t[2 * i + 1] = a[at + 2 * i + 1];
    for (unsigned d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (i < d) t[step * (2 * i + 2) - 1] += t[step * (2 * i + 1) - 1];
        step *= 2;
    }
    if (i == 0) t[511] = 0;
    for (unsigned d = 1; d < 512; d *= 2) {
        step >>= 1;
        __syncthreads();
        if (i < d) {
            float left = t[step * (2 * i + 1) - 1];
            t[step * (2 * i + 1) - 1] = t[step * (2 * i + 2) - 1];
            t[step * (2 * i + 2) - 1] += left;
        }
    }
    __syncthreads();
    c[at + 2 * i] = t[2 * i];
    c[at + 2 * i + 1] = t[2 * i + 1];
}

// The lanes that keep their value take places together: the others have none, and no value for it.
__global__ void take_places(const float* a, const float* b, unsigned* c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
    bool keep = i < n && a[i] > 3.0f;
    unsigned who = __ballot_sync(~0u, keep), first;
    if (who != 0) {
        int leader = __ffs(who) - 1;
        if (lane == leader) first = atomicAdd(c, __popc(who));
        first = __shfl_sync(~0u, first, leader);
        // Where the number of a launch before ends, the next one begins.
        if (keep) c[1 + (first + __popc(who & ((1u << lane) - 1))) % 262144] = i;
    }
}

// Stands here for the others: a module with `new` must not slow them.
__global__ void lists(const float* a, const float* b, float* c, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    float* own = new float[4];
    for (int k = 0; k < 4; k++) own[k] = a[i] + k;
    c[i] = own[n & 3];
    delete[] own;
}
}
