// Order among parts of a block or a cluster: arrivals at an mbarrier that outrun its phases or its block, reads behind a barrier of
// one warp or of two, and plain reads beside volatile and relaxed stores.

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
//@ read_again_behind_syncwarp block=64 args=in:64,out:64 fault=race
extern "C" __global__ void read_again_behind_syncwarp(const float* in, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        float x = s[t];
        __syncwarp();
        x += s[31 - t]; // <- other
        s[t] = x;       // <- here
    }
    __syncthreads();
    out[t] = s[t];
}
//@ read_again_behind_syncwarp_ok block=64 args=in:64,out:64 fault=none
extern "C" __global__ void read_again_behind_syncwarp_ok(const float* in, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        float x = s[t];
        __syncwarp();
        x += s[31 - t];
        __syncwarp();
        s[t] = x;
    }
    __syncthreads();
    out[t] = s[t];
}
//@ neighbours_behind_syncwarp block=64 args=in:64,out:64 fault=race
extern "C" __global__ void neighbours_behind_syncwarp(const float* in, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 31) {
        float x = s[t];
        __syncwarp(0x7fffffff);
        x += s[t + 1]; // <- other
        s[t] = x;      // <- here
    }
    __syncthreads();
    out[t] = s[t];
}
//@ scattered_behind_syncwarp block=64 args=in:64,out:64 fault=race
extern "C" __global__ void scattered_behind_syncwarp(const float* in, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        float x = s[t];
        __syncwarp();
        x += s[t * 7 & 31]; // <- other
        s[t] = x;           // <- here
    }
    __syncthreads();
    out[t] = s[t];
}
//@ volatile_sums_behind_syncwarp block=64 args=in:64,out:1 fault=race
extern "C" __global__ void volatile_sums_behind_syncwarp(const float* in, float* out) {
    __shared__ float sums[64];
    volatile float* s = sums;
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        float x = s[t] + s[t + 32];
        s[t] = x;
        __syncwarp();
        for (int d = 16; d; d /= 2) {
            x += s[t + d]; // <- other
            s[t] = x;      // <- here
            __syncwarp();
        }
        if (t == 0) *out = s[0];
    }
}
//@ global_behind_syncwarp block=64 args=a:64,out:64 fault=race
extern "C" __global__ void global_behind_syncwarp(float* a, float* out) {
    int t = threadIdx.x;
    if (t < 32) {
        float x = a[t];
        __syncwarp();
        x += a[t + 16 & 31]; // <- other
        a[t] = x;            // <- here
    }
    __syncthreads();
    out[t] = a[t];
}
//@ global_behind_syncwarp_ok block=64 args=a:64,out:64 fault=none
extern "C" __global__ void global_behind_syncwarp_ok(float* a, float* out) {
    int t = threadIdx.x;
    if (t < 32) {
        float x = a[t];
        __syncwarp();
        x += a[t + 16 & 31];
        __syncwarp();
        a[t] = x;
    }
    __syncthreads();
    out[t] = a[t];
}
//@ two_warps_read_again block=128 args=in:64,out:64 fault=race
extern "C" __global__ void two_warps_read_again(const float* in, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 64) s[t] = in[t];
    __syncthreads();
    if (t < 64) {
        float x = s[t];
        asm volatile("bar.sync 1, 64;" ::: "memory");
        x += s[63 - t]; // <- other
        s[t] = x;       // <- here
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = s[t ^ 1];
    }
}
//@ two_warps_read_again_ok block=128 args=in:64,out:64 fault=none
extern "C" __global__ void two_warps_read_again_ok(const float* in, float* out) {
    __shared__ float s[64];
    int t = threadIdx.x;
    if (t < 64) s[t] = in[t];
    __syncthreads();
    if (t < 64) {
        float x = s[t];
        asm volatile("bar.sync 1, 64;" ::: "memory");
        x += s[63 - t];
        asm volatile("bar.sync 1, 64;" ::: "memory");
        s[t] = x;
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = s[t ^ 1];
    }
}

__device__ __forceinline__ unsigned rank() {
    unsigned r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}
__device__ __forceinline__ unsigned remote(const void* p, unsigned r) {
    unsigned a;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"((unsigned)__cvta_generic_to_shared(p)), "r"(r));
    return a;
}
__device__ __forceinline__ void meet() {
    asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ void store_remote(unsigned a, float v) {
    asm volatile("st.shared::cluster.f32 [%0], %1;" ::"r"(a), "f"(v) : "memory");
}
__device__ __forceinline__ void arrive_remote(unsigned a) {
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(a) : "memory");
}
__device__ __forceinline__ void arrive_remote_relaxed(unsigned a) {
    asm volatile("mbarrier.arrive.relaxed.cluster.shared::cluster.b64 _, [%0];" ::"r"(a) : "memory");
}
//@ relaxed_arrival grid=2 block=32 cluster=2 args=out:1 fault=race
extern "C" __global__ void relaxed_arrival(float* out) {
    __shared__ float x;
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 1);
    meet();
    if (threadIdx.x == 0) {
        if (rank() == 0) {
            store_remote(remote(&x, 1), 7.f);
            arrive_remote_relaxed(remote(&full, 1));
        } else {
            wait(&full, 0);
            *out = x + 1.f;
        }
    }
    meet();
}
//@ releasing_arrival_ok grid=2 block=32 cluster=2 args=out:1 fault=none
extern "C" __global__ void releasing_arrival_ok(float* out) {
    __shared__ float x;
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 1);
    meet();
    if (threadIdx.x == 0) {
        if (rank() == 0) {
            store_remote(remote(&x, 1), 7.f);
            arrive_remote(remote(&full, 1));
        } else {
            wait(&full, 0);
            *out = x + 1.f;
        }
    }
    meet();
}
//@ fenced_arrival_ok block=64 args=out:32 fault=none
extern "C" __global__ void fenced_arrival_ok(float* out) {
    __shared__ float s[32];
    __shared__ unsigned long long full;
    int t = threadIdx.x;
    if (t == 0) init(&full, 32);
    __syncthreads();
    if (t < 32) {
        s[t] = t;
        __threadfence_block();
        asm volatile("mbarrier.arrive.relaxed.cta.shared.b64 _, [%0];" ::"r"((unsigned)__cvta_generic_to_shared(&full))
                     : "memory");
    } else {
        wait(&full, 0);
        out[t - 32] = s[63 - t] + 1.f;
    }
}
//@ arrives_at_an_ended_block grid=2 block=32 cluster=2 args=out:1 fault=use_after_free
extern "C" __global__ void arrives_at_an_ended_block(float* out) {
    __shared__ float x;
    __shared__ unsigned long long full, empty;
    if (threadIdx.x == 0) {
        init(&full, 1);
        init(&empty, 1);
    }
    meet();
    if (threadIdx.x == 0) {
        if (rank() == 0) {
            for (int k = 0; k < 4; ++k) {
                if (k) wait(&empty, k - 1 & 1);
                store_remote(remote(&x, 1), k);
                arrive_remote(remote(&full, 1));
            }
        } else {
            float sum = 0;
            for (int k = 0; k < 4; ++k) {
                wait(&full, k & 1);
                sum += x;
                arrive_remote(remote(&empty, 0));
            }
            *out = sum;
        }
    }
}
//@ waits_for_the_last_arrival_ok grid=2 block=32 cluster=2 args=out:1 fault=none
extern "C" __global__ void waits_for_the_last_arrival_ok(float* out) {
    __shared__ float x;
    __shared__ unsigned long long full, empty;
    if (threadIdx.x == 0) {
        init(&full, 1);
        init(&empty, 1);
    }
    meet();
    if (threadIdx.x == 0) {
        if (rank() == 0) {
            for (int k = 0; k < 4; ++k) {
                store_remote(remote(&x, 1), k);
                arrive_remote(remote(&full, 1));
                wait(&empty, k & 1);
            }
        } else {
            float sum = 0;
            for (int k = 0; k < 4; ++k) {
                wait(&full, k & 1);
                sum += x;
                arrive_remote(remote(&empty, 0));
            }
            *out = sum;
        }
    }
}
