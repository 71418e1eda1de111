// Kernels as the known suites of samples and benchmarks have them, and each with what is most often forgotten in it.

// --- The last warp of a reduction reads shared memory as volatile.

//@ last_warp_ok block=128 args=in:128,out:1 fault=none
extern "C" __global__ void last_warp_ok(const int* in, int* out) {
    __shared__ int s[128];
    unsigned t = threadIdx.x;
    int sum = in[t];
    s[t] = sum;
    __syncthreads();
    if (t < 64) s[t] = sum = sum + s[t + 64];
    __syncthreads();
    if (t < 32) {
        volatile int* v = s;
        sum += v[t + 32];
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        if (t == 0) *out = sum;
    }
}
//@ last_warp_no_barrier block=128 args=in:128,out:1 fault=race
extern "C" __global__ void last_warp_no_barrier(const int* in, int* out) {
    __shared__ int s[128];
    unsigned t = threadIdx.x;
    int sum = in[t];
    s[t] = sum;
    __syncthreads();
    if (t < 64) s[t] = sum = sum + s[t + 64]; // <- other
    if (t < 32) {
        volatile int* v = s;
        sum += v[t + 32]; // <- here
        for (int step = 16; step > 0; step /= 2) sum += __shfl_down_sync(~0u, sum, step);
        if (t == 0) *out = sum;
    }
}

// --- The last block adds up what all left, volatile on one side or on both (the programming guide's example).

//@ last_block_ok grid=6 block=32 args=part:6,count:1,out:1 fault=none
extern "C" __global__ void last_block_ok(volatile float* part, unsigned* count, float* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x;
        __threadfence();
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += part[i];
        *out = sum;
    }
}
//@ last_block_no_fence grid=6 block=32 args=part:6,count:1,out:1 fault=race says=fence
extern "C" __global__ void last_block_no_fence(volatile float* part, unsigned* count, float* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x; // <- other
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        float sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += part[i]; // <- here
        *out = sum;
    }
}
//@ last_block_half_volatile grid=6 block=32 args=part:6,count:1,out:1 fault=race says=fence
extern "C" __global__ void last_block_half_volatile(int* part, unsigned* count, int* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = blockIdx.x * 3; // <- other
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        int sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += ((volatile int*)part)[i]; // <- here
        *out = sum;
    }
}

// --- A scan with decoupled look-back: flags beside sums, or both in one word.

//@ look_back_ok grid=5 block=32 args=in:5,out:5,flag:5,raw:5,ticket:1 fault=none
extern "C" __global__ void look_back_ok(const int* in, int* out, volatile int* flag, volatile int* sum, int* ticket) {
    if (threadIdx.x != 0) return;
    int b = atomicAdd(ticket, 1), own = in[b], before = 0;
    if (b > 0) {
        while (flag[b - 1] == 0) {}
        __threadfence();
        before = sum[b - 1] + 1;
    }
    sum[b] = before + own;
    __threadfence();
    flag[b] = 1;
    out[b] = before + own;
}
//@ look_back_no_fence grid=5 block=32 args=in:5,out:5,flag:5,raw:5,ticket:1 fault=race says=fence
extern "C" __global__ void look_back_no_fence(const int* in, int* out, volatile int* flag, volatile int* sum, int* ticket) {
    if (threadIdx.x != 0) return;
    int b = atomicAdd(ticket, 1), own = in[b], before = 0;
    if (b > 0) {
        while (flag[b - 1] == 0) {}
        __threadfence();
        before = sum[b - 1] + 1; // <- here
    }
    sum[b] = before + own; // <- other
    flag[b] = 1;
    out[b] = before + own;
}
//@ look_back_no_fence_behind grid=5 block=32 args=in:5,out:5,flag:5,raw:5,ticket:1 fault=race says=fence
extern "C" __global__ void look_back_no_fence_behind(const int* in, int* out, volatile int* flag, volatile int* sum, int* ticket) {
    if (threadIdx.x != 0) return;
    int b = atomicAdd(ticket, 1), own = in[b], before = 0;
    if (b > 0) {
        while (flag[b - 1] == 0) {}
        before = sum[b - 1] + 1; // <- here
    }
    sum[b] = before + own; // <- other
    __threadfence();
    flag[b] = 1;
    out[b] = before + own;
}
//@ look_back_one_word_ok grid=5 block=32 args=in:5,out:5,state:10,ticket:1 fault=none
extern "C" __global__ void look_back_one_word_ok(const int* in, int* out, volatile unsigned long long* state, int* ticket) {
    if (threadIdx.x != 0) return;
    int b = atomicAdd(ticket, 1), sum = in[b];
    if (b > 0) {
        unsigned long long word;
        do word = state[b - 1]; while (word >> 32 == 0);
        sum += (int)word;
    }
    state[b] = 1ull << 32 | (unsigned)sum;
    out[b] = sum;
}
//@ stop_flag_ok grid=4 block=32 args=in:128,out:128,stop:1 fault=none
extern "C" __global__ void stop_flag_ok(const int* in, int* out, volatile int* stop) {
    __shared__ int seen;
    for (int turn = 0; turn < 4; ++turn) {
        if (threadIdx.x == 0) seen = *stop;
        __syncthreads();
        if (seen) break;
        if (turn == 2 && threadIdx.x == 0) *stop = 1;
        __syncthreads();
    }
    out[blockIdx.x * 32 + threadIdx.x] = in[threadIdx.x];
}
//@ sequence_lock_ok grid=3 block=32 args=sequence:1,data:2,out:3 fault=none
extern "C" __global__ void sequence_lock_ok(volatile unsigned* sequence, volatile int* data, int* out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        for (int turn = 1; turn < 9; ++turn) {
            *sequence = 2 * turn - 1;
            __threadfence();
            data[0] = turn;
            data[1] = -turn;
            __threadfence();
            *sequence = 2 * turn;
        }
    } else {
        unsigned before, behind;
        int sum;
        do {
            do before = *sequence; while (before & 1);
            __threadfence();
            sum = data[0] + data[1];
            __threadfence();
            behind = *sequence;
        } while (before != behind);
        out[blockIdx.x] = sum;
    }
}

// --- A stencil whose halo was never loaded: through a second array in shared memory.

//@ halo_ok block=32 args=in:34,out:32,n=2 fault=none
extern "C" __global__ void halo_ok(const float* in, float* out, int turns) {
    __shared__ float a[34], b[34];
    int t = threadIdx.x + 1;
    a[t] = in[t];
    if (threadIdx.x == 0) a[0] = in[0];
    if (threadIdx.x == 31) a[33] = in[33];
    __syncthreads();
    for (int turn = 0;; ++turn) {
        b[t] = a[t - 1] + a[t] + a[t + 1];
        __syncthreads();
        if (turn == turns) break;
        a[t] = b[t];
        __syncthreads();
    }
    out[threadIdx.x] = b[t];
}
//@ halo_missing block=32 args=in:34,out:32,n=0 fault=uninitialised says=[33]
extern "C" __global__ void halo_missing(const float* in, float* out, int turns) {
    __shared__ float a[34], b[34];
    int t = threadIdx.x + 1;
    a[t] = in[t];
    if (threadIdx.x == 0) a[0] = in[0];
    __syncthreads();
    for (int turn = 0;; ++turn) {
        b[t] = a[t - 1] + a[t] + a[t + 1]; // <- here
        __syncthreads();
        if (turn == turns) break;
        a[t] = b[t];
        __syncthreads();
    }
    out[threadIdx.x] = b[t];
}
//@ local_halo_missing block=32 args=in:38,out:32,n=1 fault=uninitialised
extern "C" __global__ void local_halo_missing(const float* in, float* out, int n) {
    float v[8];
    for (int i = 0; i < 7; ++i) v[i * n] = in[threadIdx.x + i];
    for (int i = 0; i < 7; ++i) v[i] = v[i * n] * 2 + v[(i + 1) * n]; // <- here
    out[threadIdx.x] = v[6 * n];
}
//@ tile_of_half_an_array_ok block=64 args=raw:64,out:64 fault=none
// What the host never wrote stays so in the copy; that is found where somebody computes with it.
extern "C" __global__ void tile_of_half_an_array_ok(const float* raw, float* out) {
    __shared__ float tile[64];
    tile[threadIdx.x] = raw[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x];
}
struct alignas(16) Item { int key; float value; };
//@ padded_items_ok block=32 args=out:128 fault=none
extern "C" __global__ void padded_items_ok(int4* out) {
    __shared__ Item items[32];
    items[threadIdx.x].key = threadIdx.x;
    items[threadIdx.x].value = 1;
    __syncwarp();
    int* to = reinterpret_cast<int*>(out);
    for (int i = threadIdx.x; i < 128; i += 32) to[i] = reinterpret_cast<int*>(items)[i];
}
