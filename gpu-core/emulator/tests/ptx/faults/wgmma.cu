// wgmma: what must stand around it, wrong uses and corrected twins. D is 64 x 32 of bf16 tiles in shared memory.

__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ unsigned swizzle128(unsigned row, unsigned k) {
    return row * 128 + ((k / 8) ^ (row % 8)) * 16 + k % 8 * 2;
}
__device__ __forceinline__ unsigned long long descriptor(const void* p, unsigned k) {
    return (unsigned long long)(((at(p) + 32 * k) & 0x3ffff) >> 4) | 1ull << 16 | (unsigned long long)(1024 >> 4) << 32 | 1ull << 62;
}
__device__ __forceinline__ void fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ __forceinline__ void commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait() { asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory"); }
__device__ __forceinline__ void proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
#define D "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15}"
#define D_OF(c) \
    "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(c[4]), "+f"(c[5]), "+f"(c[6]), "+f"(c[7]), \
        "+f"(c[8]), "+f"(c[9]), "+f"(c[10]), "+f"(c[11]), "+f"(c[12]), "+f"(c[13]), "+f"(c[14]), "+f"(c[15])
#define MMA(c, a, b, k, accumulate) \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %18, 0; " \
                 "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 " D ", %16, %17, p, 1, 1, 0, 0;}" \
                 : D_OF(c) \
                 : "l"(descriptor(a, k)), "l"(descriptor(b, k)), "r"((int)(accumulate)))
#define MMA_REGISTERS(c, f, b, k, accumulate) \
    asm volatile("{.reg .pred p; setp.ne.b32 p, %21, 0; " \
                 "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 " D ", {%16,%17,%18,%19}, %20, p, 1, 1, 0;}" \
                 : D_OF(c) \
                 : "r"(f[0]), "r"(f[1]), "r"(f[2]), "r"(f[3]), "l"(descriptor(b, k)), "r"((int)(accumulate)))
#define TILES \
    __shared__ __align__(1024) unsigned char a[64 * 128]; \
    __shared__ __align__(1024) unsigned char b[32 * 128]
#define FILL(value) \
    do { \
        for (unsigned i = threadIdx.x; i < 64 * 64; i += 128) *(unsigned short*)(a + swizzle128(i / 64, i % 64)) = (value); \
        for (unsigned i = threadIdx.x; i < 32 * 64; i += 128) *(unsigned short*)(b + swizzle128(i / 64, i % 64)) = (value); \
    } while (0)
#define RESULT \
    do { \
        float sum = 0; \
        for (int i = 0; i < 16; ++i) sum += c[i]; \
        out[threadIdx.x] = sum; \
    } while (0)

//@ product_ok block=128 args=out:128 fault=none
extern "C" __global__ void product_ok(float* out) {
    TILES;
    FILL(0x3f80);
    proxy();
    __syncthreads();
    float c[16] = {};
    fence();
    for (int k = 0; k < 4; ++k) MMA(c, a, b, k, k > 0);
    commit();
    wait<0>();
    RESULT;
}
//@ accumulate_ok block=128 args=out:128 fault=none
extern "C" __global__ void accumulate_ok(float* out) {
    TILES;
    float c[16];
    for (int i = 0; i < 16; ++i) c[i] = threadIdx.x;
    for (int step = 0; step < 3; ++step) {
        FILL(0x3f80);
        proxy();
        __syncthreads();
        fence();
        for (int k = 0; k < 4; ++k) MMA(c, a, b, k, 1);
        commit();
        wait<0>();
        __syncthreads();
    }
    RESULT;
}
//@ no_wait block=128 args=out:128 fault=missing_async_wait says=wait_group
extern "C" __global__ void no_wait(float* out) {
    TILES;
    FILL(0x3f80);
    proxy();
    __syncthreads();
    float c[16] = {};
    fence();
    for (int k = 0; k < 4; ++k) MMA(c, a, b, k, k > 0); // <- other
    commit();
    RESULT; // <- here
    wait<0>();
}
//@ no_commit block=128 args=out:128 fault=missing_async_wait says=commit_group
extern "C" __global__ void no_commit(float* out) {
    TILES;
    FILL(0x3f80);
    proxy();
    __syncthreads();
    float c[16] = {};
    fence();
    for (int k = 0; k < 4; ++k) MMA(c, a, b, k, k > 0);
    wait<0>();
    RESULT;
}
//@ wait_one_too_few block=128 args=out:128 fault=missing_async_wait
extern "C" __global__ void wait_one_too_few(float* out) {
    TILES;
    FILL(0x3f80);
    proxy();
    __syncthreads();
    float c[16] = {};
    for (int k = 0; k < 4; ++k) {
        fence();
        MMA(c, a, b, k, k > 0);
        commit();
        wait<1>();
    }
    RESULT;
    wait<0>();
}
//@ pipelined_ok block=128 args=out:128 fault=none
extern "C" __global__ void pipelined_ok(float* out) {
    TILES;
    FILL(0x3f80);
    proxy();
    __syncthreads();
    float c[16] = {};
    for (int k = 0; k < 4; ++k) {
        fence();
        MMA(c, a, b, k, k > 0);
        commit();
        wait<1>();
    }
    wait<0>();
    RESULT;
}
//@ loop_ok block=128 args=out:128,n=5 fault=none
extern "C" __global__ void loop_ok(float* out, int n) {
    TILES;
    FILL(0x3f80);
    proxy();
    __syncthreads();
    float c[16] = {};
#pragma unroll 1
    for (int i = 0; i < n; ++i) {
        fence();
        for (int k = 0; k < 4; ++k) MMA(c, a, b, k, 1);
        commit();
        wait<1>();
    }
    wait<0>();
    RESULT;
}
//@ no_fence block=128 args=out:128 fault=missing_async_wait says=wgmma.fence
extern "C" __global__ void no_fence(float* out) {
    TILES;
    FILL(0x3f80);
    proxy();
    __syncthreads();
    float c[16];
    for (int i = 0; i < 16; ++i) c[i] = threadIdx.x;
    for (int k = 0; k < 4; ++k) MMA(c, a, b, k, 1); // <- here
    commit();
    wait<0>();
    RESULT;
}
//@ scaled_without_fence block=128 args=out:128 fault=missing_async_wait says=wgmma.fence
extern "C" __global__ void scaled_without_fence(float* out) {
    TILES;
    FILL(0x3f80);
    proxy();
    __syncthreads();
    float c[16] = {};
    fence();
    for (int step = 0; step < 3; ++step) {
        for (int k = 0; k < 4; ++k) MMA(c, a, b, k, 1);
        commit();
        wait<0>();
        for (int i = 0; i < 16; ++i) c[i] *= 0.5f;
    }
    RESULT;
}
//@ scaled_ok block=128 args=out:128 fault=none
extern "C" __global__ void scaled_ok(float* out) {
    TILES;
    FILL(0x3f80);
    proxy();
    __syncthreads();
    float c[16] = {};
    for (int step = 0; step < 3; ++step) {
        fence();
        for (int k = 0; k < 4; ++k) MMA(c, a, b, k, 1);
        commit();
        wait<0>();
        for (int i = 0; i < 16; ++i) c[i] *= 0.5f;
    }
    RESULT;
}
//@ fragments_ok block=128 args=in:64,out:128 fault=none
extern "C" __global__ void fragments_ok(const unsigned* in, float* out) {
    TILES;
    FILL(0x3f80);
    proxy();
    __syncthreads();
    float c[16] = {};
    for (int k = 0; k < 4; ++k) {
        unsigned f[4];
        for (int i = 0; i < 4; ++i) f[i] = in[4 * k + i] & 0x3f803f80;
        fence();
        MMA_REGISTERS(c, f, b, k, k > 0);
        commit();
        wait<0>();
    }
    RESULT;
}
//@ fragments_no_fence block=128 args=in:64,out:128,n=4 fault=missing_async_wait says=wgmma.fence
extern "C" __global__ void fragments_no_fence(const unsigned* in, float* out, int n) {
    TILES;
    FILL(0x3f80);
    proxy();
    __syncthreads();
    float c[16] = {};
    fence();
#pragma unroll 1
    for (int k = 0; k < n; ++k) {
        unsigned f[4];
        for (int i = 0; i < 4; ++i) f[i] = ((volatile unsigned*)in)[4 * k + i];
        MMA_REGISTERS(c, f, b, k, 1);
        commit();
        wait<0>();
    }
    RESULT;
}
//@ fragments_overwritten block=128 args=in:64,out:128,n=4 fault=missing_async_wait says=wait_group
extern "C" __global__ void fragments_overwritten(const unsigned* in, float* out, int n) {
    TILES;
    FILL(0x3f80);
    proxy();
    __syncthreads();
    float c[16] = {};
    asm volatile("{.reg .b32 f; ld.global.b32 f, [%16]; wgmma.fence.sync.aligned; "
                 "wgmma.mma_async.sync.aligned.m64n32k16.f32.bf16.bf16 " D ", {f,f,f,f}, %17, 1, 1, 1, 0; "
                 "ld.global.b32 f, [%16+4]; st.global.b32 [%18], f; wgmma.commit_group.sync.aligned;}"
                 : D_OF(c) : "l"(in), "l"(descriptor(b, 0)), "l"(out) : "memory");
    wait<0>();
    RESULT;
}
//@ no_proxy_fence block=128 args=out:128 fault=missing_async_wait says=fence.proxy.async
extern "C" __global__ void no_proxy_fence(float* out) {
    TILES;
    FILL(0x3f80);
    __syncthreads();
    float c[16] = {};
    fence();
    for (int k = 0; k < 4; ++k) MMA(c, a, b, k, k > 0); // <- here
    commit();
    wait<0>();
    RESULT;
}
//@ tile_not_synced block=128 args=out:128 fault=race
extern "C" __global__ void tile_not_synced(float* out) {
    TILES;
    FILL(0x3f80);
    proxy();
    float c[16] = {};
    fence();
    for (int k = 0; k < 4; ++k) MMA(c, a, b, k, k > 0);
    commit();
    wait<0>();
    RESULT;
}
//@ tile_overwritten block=128 args=out:128 fault=missing_async_wait says=wait_group
extern "C" __global__ void tile_overwritten(float* out) {
    TILES;
    float c[16] = {};
    for (int step = 0; step < 3; ++step) {
        FILL(0x3f80); // <- here
        proxy();
        __syncthreads();
        fence();
        for (int k = 0; k < 4; ++k) MMA(c, a, b, k, 1); // <- other
        commit();
        __syncthreads();
    }
    wait<0>();
    RESULT;
}
// The wait is the warpgroup's: its own next tile needs no barrier in front, a stranger's does.
//@ tile_waited_ok block=128 args=out:128 fault=none
extern "C" __global__ void tile_waited_ok(float* out) {
    TILES;
    float c[16] = {};
    for (int step = 0; step < 3; ++step) {
        FILL(0x3f80);
        proxy();
        __syncthreads();
        fence();
        for (int k = 0; k < 4; ++k) MMA(c, a, b, k, 1);
        commit();
        wait<0>();
    }
    RESULT;
}
//@ tile_waited_no_barrier block=160 args=out:160 fault=race|missing_async_wait
extern "C" __global__ void tile_waited_no_barrier(float* out) {
    TILES;
    float c[16] = {};
    if (threadIdx.x < 128) FILL(0x3f80);
    proxy();
    __syncthreads();
    if (threadIdx.x < 128) {
        fence();
        for (int k = 0; k < 4; ++k) MMA(c, a, b, k, 1); // <- other
        commit();
        wait<0>();
        RESULT;
    } else {
        a[threadIdx.x] = 0; // <- here
    }
}
//@ one_warp_alone block=128 args=out:128 fault=mask_misuse
extern "C" __global__ void one_warp_alone(float* out) {
    TILES;
    FILL(0x3f80);
    proxy();
    __syncthreads();
    float c[16] = {};
    if (threadIdx.x < 32) {
        fence();
        for (int k = 0; k < 4; ++k) MMA(c, a, b, k, k > 0);
        commit();
        wait<0>();
    }
    __syncthreads();
    RESULT;
}
//@ other_tile_ok block=128 args=out:128 fault=none
extern "C" __global__ void other_tile_ok(float* out) {
    TILES;
    __shared__ unsigned next[128];
    FILL(0x3f80);
    proxy();
    __syncthreads();
    float c[16] = {};
    fence();
    for (int k = 0; k < 4; ++k) MMA(c, a, b, k, k > 0);
    commit();
    next[threadIdx.x] = threadIdx.x;
    __syncthreads();
    wait<0>();
    c[0] += next[127 - threadIdx.x];
    RESULT;
}
//@ half_a_warpgroup block=64 args=out:128 fault=mask_misuse
extern "C" __global__ void half_a_warpgroup(float* out) {
    TILES;
    FILL(0x3f80);
    proxy();
    __syncthreads();
    float c[16] = {};
    fence();
    for (int k = 0; k < 4; ++k) MMA(c, a, b, k, k > 0);
    commit();
    wait<0>();
    RESULT;
}
