// Right kernels as they are really written: whatever is said of them is a false alarm.

__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void init(unsigned long long* b, unsigned n) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\n\tfence.mbarrier_init.release.cluster;" ::"r"(at(b)), "r"(n) : "memory");
}
__device__ __forceinline__ void expect(unsigned long long* b, unsigned n) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(n) : "memory");
}
__device__ __forceinline__ void arrive(unsigned long long* b) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory");
}
__device__ __forceinline__ void wait(unsigned long long* b, unsigned parity) {
    asm volatile("{.reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra done; bra again; done: }"
                 ::"r"(at(b)), "r"(parity) : "memory");
}
struct alignas(64) Map { char bytes[128]; };
__device__ __forceinline__ void load2d(void* to, const Map* map, int x, int y, unsigned long long* b) {
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                 ::"r"(at(to)), "l"(map), "r"(x), "r"(y), "r"(at(b)) : "memory");
}
__device__ __forceinline__ void store2d(const Map* map, const void* from, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];"
                 ::"l"(map), "r"(x), "r"(y), "r"(at(from)) : "memory");
}

// Decoupled look-back: state and value travel in one word, status is polled with relaxed loads.
//@ look_back grid=6 block=64 args=out:384,state:16 fault=none
extern "C" __global__ void look_back(unsigned* out, unsigned long long* state) {
    __shared__ unsigned warp_sums[2], before;
    unsigned v = 1;
    for (int o = 1; o < 32; o <<= 1) {
        unsigned u = __shfl_up_sync(0xffffffff, v, o);
        if (threadIdx.x % 32 >= o) v += u;
    }
    if (threadIdx.x % 32 == 31) warp_sums[threadIdx.x / 32] = v;
    __syncthreads();
    if (threadIdx.x >= 32) v += warp_sums[0];
    if (threadIdx.x == 63) atomicExch(&state[blockIdx.x], (blockIdx.x ? 1ull : 2ull) << 32 | v);
    if (threadIdx.x == 0) {
        unsigned sum = 0;
        for (int b = (int)blockIdx.x - 1; b >= 0; --b) {
            unsigned long long s;
            do asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(s) : "l"(state + b) : "memory");
            while (s >> 32 == 0);
            sum += (unsigned)s;
            if (s >> 32 == 2) break;
        }
        before = sum;
    }
    __syncthreads();
    if (threadIdx.x == 63) atomicExch(&state[blockIdx.x], 2ull << 32 | (before + v));
    out[blockIdx.x * 64 + threadIdx.x] = before + v;
}
// A tile scheduler: one thread draws, all read, and a barrier keeps the next draw away.
//@ scheduler grid=3 block=64 args=out:640,counter:1 fault=none
extern "C" __global__ void scheduler(unsigned* out, unsigned* counter) {
    __shared__ unsigned tile;
    for (;;) {
        if (threadIdx.x == 0) tile = atomicAdd(counter, 1);
        __syncthreads();
        const unsigned t = tile;
        __syncthreads();
        if (t >= 10) break;
        out[t * 64 + threadIdx.x] = t;
    }
}
// Split-K with a semaphore per tile: blocks add their part in turn.
//@ semaphore grid=4 block=64 args=out:64,lock:1 fault=none
extern "C" __global__ void semaphore(float* out, unsigned* lock) {
    if (threadIdx.x == 0) {
        unsigned turn;
        do asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(turn) : "l"(lock) : "memory");
        while (turn != blockIdx.x);
    }
    __syncthreads();
    out[threadIdx.x] += blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) asm volatile("red.release.gpu.global.add.s32 [%0], 1;" ::"l"(lock) : "memory");
}
// The old way of the same, with volatile and fences.
//@ semaphore_volatile grid=4 block=64 args=out:64,lock:1 fault=none
extern "C" __global__ void semaphore_volatile(float* out, volatile unsigned* lock) {
    if (threadIdx.x == 0) while (*lock != blockIdx.x) {}
    __syncthreads();
    out[threadIdx.x] += blockIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) *lock = blockIdx.x + 1;
}
// Sum of block sums by the last block, whose result array is volatile as in the programming guide.
//@ guide_sum grid=5 block=64 args=result:5,out:1,count:1 fault=none
extern "C" __global__ void guide_sum(volatile float* result, float* out, unsigned* count) {
    __shared__ bool last;
    __shared__ float partial[64];
    partial[threadIdx.x] = 1;
    for (int o = 32; o > 0; o >>= 1) {
        __syncthreads();
        if (threadIdx.x < o) partial[threadIdx.x] += partial[threadIdx.x + o];
    }
    if (threadIdx.x == 0) {
        result[blockIdx.x] = partial[0];
        __threadfence();
        last = atomicInc(count, gridDim.x) == gridDim.x - 1;
    }
    __syncthreads();
    if (last) {
        float sum = 0;
        if (threadIdx.x < gridDim.x) sum = result[threadIdx.x];
        partial[threadIdx.x] = sum;
        for (int o = 32; o > 0; o >>= 1) {
            __syncthreads();
            if (threadIdx.x < o) partial[threadIdx.x] += partial[threadIdx.x + o];
        }
        if (threadIdx.x == 0) { out[0] = partial[0]; *count = 0; }
    }
}
//@ bitonic block=64 args=out:64 fault=none
extern "C" __global__ void bitonic(unsigned* out) {
    __shared__ unsigned s[64];
    s[threadIdx.x] = threadIdx.x * 37 % 64;
    __syncthreads();
    for (int k = 2; k <= 64; k <<= 1)
        for (int j = k / 2; j > 0; j >>= 1) {
            unsigned p = threadIdx.x ^ j;
            if (p > threadIdx.x) {
                bool up = (threadIdx.x & k) == 0;
                if ((s[threadIdx.x] > s[p]) == up) { unsigned t = s[p]; s[p] = s[threadIdx.x]; s[threadIdx.x] = t; }
            }
            __syncthreads();
        }
    out[threadIdx.x] = s[threadIdx.x];
}
// A queue in shared memory: warps append with an aggregated atomic.
//@ compaction block=128 args=out:128,count:1 fault=none
extern "C" __global__ void compaction(unsigned* out, unsigned* count) {
    __shared__ unsigned queue[128], size;
    if (threadIdx.x == 0) size = 0;
    __syncthreads();
    if (threadIdx.x % 3 == 0) {
        const unsigned active = __activemask(), lane = threadIdx.x % 32, leader = __ffs(active) - 1;
        unsigned base = 0;
        if (lane == leader) base = atomicAdd(&size, __popc(active));
        base = __shfl_sync(active, base, leader);
        queue[base + __popc(active & ((1u << lane) - 1))] = threadIdx.x;
    }
    __syncthreads();
    for (unsigned i = threadIdx.x; i < size; i += blockDim.x) out[i] = queue[i];
    if (threadIdx.x == 0) *count = size;
}
// One array used as two types, with a barrier between the lives.
//@ reuse block=64 args=out:64 fault=none
extern "C" __global__ void reuse(unsigned* out) {
    __shared__ unsigned long long store[64];
    unsigned char* bytes = (unsigned char*)store;
    bytes[threadIdx.x] = threadIdx.x;
    __syncthreads();
    unsigned v = bytes[63 - threadIdx.x];
    __syncthreads();
    store[threadIdx.x] = v;
    __syncthreads();
    out[threadIdx.x] = (unsigned)store[63 - threadIdx.x];
}
// Warps hand tiles over through counters in shared memory.
//@ counters_in_shared block=96 args=out:32 fault=none
extern "C" __global__ void counters_in_shared(unsigned* out) {
    __shared__ unsigned data[32], full, taken;
    if (threadIdx.x == 0) { full = 0; taken = 0; }
    __syncthreads();
    if (threadIdx.x < 32) {
        for (unsigned i = 0; i < 3; ++i) {
            while (atomicAdd(&taken, 0) != 2 * i) {}
            __threadfence_block();
            data[threadIdx.x] = i + threadIdx.x;
            __threadfence_block();
            __syncwarp();
            if (threadIdx.x == 0) atomicExch(&full, i + 1);
            __syncwarp();
        }
    } else {
        unsigned sum = 0;
        for (unsigned i = 0; i < 3; ++i) {
            while (atomicAdd(&full, 0) != i + 1) {}
            __threadfence_block();
            sum += data[threadIdx.x % 32];
            __threadfence_block();
            __syncwarp();
            if (threadIdx.x % 32 == 0) atomicAdd(&taken, 1);
        }
        if (threadIdx.x < 64) out[threadIdx.x - 32] = sum;
    }
}
// Tensor loads, two stages, a warp that loads and warps that compute in place and store through the tensor unit.
//@ warp_specialised block=96 args=map:64:64:32:16,map:64:64:32:16 fault=none
extern "C" __global__ void warp_specialised(const __grid_constant__ Map in, const __grid_constant__ Map out) {
    __shared__ __align__(128) float tile[2][512], result[2][512];
    __shared__ unsigned long long full[2], empty[2];
    if (threadIdx.x == 0) {
        for (int s = 0; s < 2; ++s) { init(&full[s], 1); init(&empty[s], 64); }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncthreads();
    if (threadIdx.x >= 64) {
        if (threadIdx.x == 64)
            for (int i = 0; i < 8; ++i) {
                wait(&empty[i & 1], (i / 2 & 1) ^ 1);
                expect(&full[i & 1], 2048);
                load2d(tile[i & 1], &in, i % 2 * 32, i / 2 * 16, &full[i & 1]);
            }
    } else {
        for (int i = 0; i < 8; ++i) {
            // The result buffer of two steps ago must be read before it is written again.
            if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
            asm volatile("bar.sync 1, 64;" ::: "memory");
            wait(&full[i & 1], i / 2 & 1);
            for (int k = threadIdx.x; k < 512; k += 64) result[i & 1][k] = 2 * tile[i & 1][k];
            arrive(&empty[i & 1]);
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            asm volatile("bar.sync 1, 64;" ::: "memory");
            if (threadIdx.x == 0) {
                store2d(&out, result[i & 1], i % 2 * 32, i / 2 * 16);
                asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            }
        }
        if (threadIdx.x == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
// In place: the tile is loaded, changed and stored from the same memory, again and again.
//@ in_place block=64 args=map:64:64:32:16 fault=none
extern "C" __global__ void in_place(const __grid_constant__ Map map) {
    __shared__ __align__(128) float tile[512];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 1);
    __syncthreads();
    for (int i = 0; i < 4; ++i) {
        if (threadIdx.x == 0) {
            expect(&full, 2048);
            load2d(tile, &map, 0, i * 16, &full);
        }
        wait(&full, i & 1);
        for (int k = threadIdx.x; k < 512; k += 64) tile[k] += 1;
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (threadIdx.x == 0) {
            store2d(&map, tile, 0, i * 16);
            asm volatile("cp.async.bulk.commit_group;" ::: "memory");
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        }
        __syncthreads();
    }
}
__device__ __forceinline__ unsigned long long descriptor(const void* p, unsigned k) {
    return (unsigned long long)(((at(p) + 32 * k) & 0x3ffff) >> 4) | 1ull << 16 | (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}
#define D "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}"
#define D_OF(c) \
    "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), \
        "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15])
__device__ __forceinline__ void product(float (&c)[16], const void* a, const void* b, int k) {
    asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 " D ", %16, %17, 1, 1, 1, 0, 0;"
                 : D_OF(c) : "l"(descriptor(a, k)), "l"(descriptor(b, k)));
}
// The usual Hopper product: one warp loads, two warpgroups multiply, a stage is given back one step late.
//@ hopper_product block=288 args=map:32:512:32:64,map:32:256:32:32,out:4096,n=8 fault=none
extern "C" __global__ void hopper_product(const __grid_constant__ Map ma, const __grid_constant__ Map mb, float* out, int n) {
    constexpr int STAGES = 3;
    __shared__ __align__(1024) unsigned char a[STAGES][2][64 * 128], b[STAGES][32 * 128];
    __shared__ unsigned long long full[STAGES], empty[STAGES];
    if (threadIdx.x == 0)
        for (int s = 0; s < STAGES; ++s) { init(&full[s], 1); init(&empty[s], 2); }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    __syncthreads();
    if (threadIdx.x >= 256) {
        if (threadIdx.x == 256) {
            int stage = 0, phase = 1;
            for (int i = 0; i < n; ++i) {
                wait(&empty[stage], phase);
                expect(&full[stage], 2 * 8192 + 4096);
                load2d(a[stage][0], &ma, 0, i * 64, &full[stage]);
                load2d(a[stage][1], &ma, 0, i * 64, &full[stage]);
                load2d(b[stage], &mb, 0, i * 32, &full[stage]);
                if (++stage == STAGES) { stage = 0; phase ^= 1; }
            }
        }
        return;
    }
    const int group = threadIdx.x / 128;
    float c[16] = {};
    int stage = 0, phase = 0, before = 0;
    for (int i = 0; i < n; ++i) {
        wait(&full[stage], phase);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < 4; ++k) product(c, a[stage][group], b[stage], k);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
        if (i > 0 && threadIdx.x % 128 == 0) arrive(&empty[before]);
        before = stage;
        if (++stage == STAGES) { stage = 0; phase ^= 1; }
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 16; ++i) out[threadIdx.x * 16 + i] = c[i];
}
// Softmax between two products, as in attention: P goes from accumulators to fragments of A.
//@ attention_like block=128 args=in:64,out:2048 fault=none
extern "C" __global__ void attention_like(const float* in, float* out) {
    __shared__ __align__(1024) unsigned char a[64 * 128], b[32 * 128];
    for (int i = threadIdx.x; i < 2048; i += 128) ((float*)a)[i] = in[i % 64] * 0.001f;
    for (int i = threadIdx.x; i < 1024; i += 128) ((float*)b)[i] = in[i % 64] * 0.001f;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    float o[16] = {}, largest = -1e30f;
    for (int step = 0; step < 3; ++step) {
        float s[16] = {};
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int k = 0; k < 4; ++k) product(s, a, b, k);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        float m = largest;
        for (int i = 0; i < 16; ++i) m = fmaxf(m, s[i]);
        m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 1));
        m = fmaxf(m, __shfl_xor_sync(0xffffffff, m, 2));
        const float scale = __expf(largest - m);
        largest = m;
        unsigned p[4];
        for (int i = 0; i < 4; ++i) {
            float x = __expf(s[2 * i] - m), y = __expf(s[2 * i + 1] - m);
            asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(p[i]) : "f"(y), "f"(x));
        }
        for (int i = 0; i < 16; ++i) o[i] *= scale;
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile("wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 " D ", {%16,%17,%18,%19}, %20, 1, 1, 1, 0;"
                     : D_OF(o) : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "l"(descriptor(b, 0)));
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    for (int i = 0; i < 16; ++i) out[threadIdx.x * 16 + i] = o[i];
}
// Blocks of a cluster share one load, and give the stage back to the block that loads.
//@ cluster_multicast grid=2 cluster=2 block=64 args=in:256,out:128 fault=none
extern "C" __global__ void cluster_multicast(const float* in, float* out) {
    __shared__ __align__(16) float s[64];
    __shared__ unsigned long long full, empty;
    unsigned rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) {
        init(&full, 1);
        init(&empty, 4);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    float sum = 0;
    for (int i = 0; i < 4; ++i) {
        if (threadIdx.x == 0) {
            expect(&full, 256);
            if (rank == 0) {
                if (i > 0) wait(&empty, (i - 1) & 1);
                asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 256, [%2], %3;"
                             ::"r"(at(s)), "l"(in + 64 * i), "r"(at(&full)), "h"((unsigned short)3) : "memory");
            }
        }
        wait(&full, i & 1);
        sum += s[63 - threadIdx.x];
        __syncwarp();
        if (threadIdx.x % 32 == 0) {
            unsigned to;
            asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(to) : "r"(at(&empty)));
            asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(to) : "memory");
        }
    }
    out[blockIdx.x * 64 + threadIdx.x] = sum;
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
