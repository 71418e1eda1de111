// Arrivals at an mbarrier that outrun its phases, and plain reads beside volatile and relaxed stores.

__device__ __forceinline__ void init(unsigned long long* bar, unsigned count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"((unsigned)__cvta_generic_to_shared(bar)), "r"(count));
}
__device__ __forceinline__ void arrive(unsigned long long* bar) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"((unsigned)__cvta_generic_to_shared(bar)) : "memory");
}
__device__ __forceinline__ void wait(unsigned long long* bar, unsigned parity) {
    asm volatile(
        "{\n.reg .pred p;\nAGAIN:\nmbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra AGAIN;\n}\n" ::"r"(
            (unsigned)__cvta_generic_to_shared(bar)),
        "r"(parity)
        : "memory");
}
//@ one_lane_too_many block=32 args=out:32 fault=barrier_phase says=the mbarrier is made for 31 arrivals a phase
extern "C" __global__ void one_lane_too_many(int* out) {
    __shared__ unsigned long long bar;
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t == 0) init(&bar, 31);
    __syncthreads();
    s[t] = t;
    arrive(&bar); // <- here
    wait(&bar, 0);
    out[t] = s[31 - t];
}
//@ one_warp_too_many block=128 args=out:128 fault=barrier_phase says=phase 0
extern "C" __global__ void one_warp_too_many(int* out) {
    __shared__ unsigned long long bar;
    __shared__ int s[128];
    int t = threadIdx.x;
    if (t == 0) init(&bar, 96);
    __syncthreads();
    s[t] = t;
    arrive(&bar); // <- here
    wait(&bar, 0);
    out[t] = s[127 - t];
}
//@ arrives_again block=64 args=out:64 fault=barrier_phase says=this one has to wait for the phase first
extern "C" __global__ void arrives_again(int* out) {
    __shared__ unsigned long long bar;
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t == 0) init(&bar, 64);
    __syncthreads();
    s[t] = t;
    arrive(&bar);
    out[t] = t;
    arrive(&bar);
    wait(&bar, 1);
    out[t] = s[63 - t];
}
//@ phase_after_phase_ok block=128 args=out:128 fault=none note=none
extern "C" __global__ void phase_after_phase_ok(int* out) {
    __shared__ unsigned long long bar;
    __shared__ int s[128];
    int t = threadIdx.x, sum = 0;
    if (t == 0) init(&bar, 128);
    __syncthreads();
    for (int k = 0; k < 4; ++k) {
        s[t] = t + k;
        arrive(&bar);
        wait(&bar, 0);
        sum += s[127 - t];
        arrive(&bar);
        wait(&bar, 1);
    }
    out[t] = sum;
}
//@ one_waits_for_all_ok block=128 args=out:128 fault=none note=none
extern "C" __global__ void one_waits_for_all_ok(int* out) {
    __shared__ unsigned long long bar;
    __shared__ int s[128];
    int t = threadIdx.x, sum = 0;
    if (t == 0) init(&bar, 128);
    __syncthreads();
    for (int k = 0; k < 4; ++k) {
        s[t] = t + k;
        arrive(&bar);
        if (t < 32) wait(&bar, k & 1);
        __syncthreads();
        sum += s[127 - t];
        __syncthreads();
    }
    out[t] = sum;
}
//@ ring_ok block=96 args=in:512,out:64 fault=none note=none
extern "C" __global__ void ring_ok(const float* a, float* out) {
    __shared__ unsigned long long full[2], empty[2];
    __shared__ float s[2][32];
    int t = threadIdx.x, lane = t % 32;
    if (t == 0)
        for (int i = 0; i < 2; ++i) {
            init(&full[i], 32);
            init(&empty[i], 2);
        }
    __syncthreads();
    if (t < 32) {
        for (int k = 0; k < 16; ++k) {
            if (k >= 2) wait(&empty[k % 2], (k / 2 - 1) & 1);
            s[k % 2][lane] = a[k * 32 + lane];
            arrive(&full[k % 2]);
        }
    } else {
        float sum = 0;
        for (int k = 0; k < 16; ++k) {
            wait(&full[k % 2], k / 2 & 1);
            sum += s[k % 2][31 - lane];
            __syncwarp();
            if (lane == 0) arrive(&empty[k % 2]);
        }
        out[t - 32] = sum;
    }
}
//@ read_before_volatile block=64 args=g:32,out:32 fault=race
extern "C" __global__ void read_before_volatile(int* g, int* out) {
    int t = threadIdx.x;
    if (t < 32) out[t] = g[t] * 3;              // <- other
    else ((volatile int*)g)[t - 32] = t;         // <- here
}
//@ read_before_volatile_ok block=64 args=g:32,out:32 fault=none
extern "C" __global__ void read_before_volatile_ok(int* g, int* out) {
    int t = threadIdx.x;
    if (t < 32) out[t] = g[t] * 3;
    __syncthreads();
    if (t >= 32) ((volatile int*)g)[t - 32] = t;
}
//@ read_after_relaxed block=64 args=g:32,out:32 fault=race
extern "C" __global__ void read_after_relaxed(int* g, int* out) {
    int t = threadIdx.x;
    if (t < 32) asm volatile("st.relaxed.gpu.global.s32 [%0], %1;" ::"l"(g + t), "r"(t) : "memory"); // <- here
    else out[t - 32] = g[t - 32] * 3;                                                                // <- other
}
//@ read_before_volatile_shared block=64 args=out:32 fault=race
extern "C" __global__ void read_before_volatile_shared(int* out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t < 32) s[t] = t;
    __syncthreads();
    if (t < 32) out[t] = s[t];                   // <- other
    else ((volatile int*)s)[t - 32] = t;         // <- here
}
//@ other_block_stores_volatile grid=2 block=32 args=g:32,out:32,flag:1 fault=race
extern "C" __global__ void other_block_stores_volatile(int* g, int* out, unsigned* flag) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        out[t] = g[t] * 3;                       // <- other
        __syncthreads();
        if (t == 0) atomicExch(flag, 1u);
    } else {
        if (t == 0) while (*(volatile unsigned*)flag == 0) {}
        __syncthreads();
        ((volatile int*)g)[t] = t;               // <- here
    }
}
//@ other_block_stores_volatile_ok grid=2 block=32 args=g:32,out:32,flag:1 fault=none
extern "C" __global__ void other_block_stores_volatile_ok(int* g, int* out, unsigned* flag) {
    int t = threadIdx.x;
    if (blockIdx.x == 0) {
        out[t] = g[t] * 3;
        __syncthreads();
        if (t == 0) {
            __threadfence();
            atomicExch(flag, 1u);
        }
    } else {
        if (t == 0) {
            while (*(volatile unsigned*)flag == 0) {}
            __threadfence();
        }
        __syncthreads();
        ((volatile int*)g)[t] = t;
    }
}
//@ optimistic_ok grid=2 block=32 args=best:1 fault=none
extern "C" __global__ void optimistic_ok(int* best) {
    int v = blockIdx.x * 32 + threadIdx.x;
    if (*best < v) atomicMax(best, v);
}
