// Waits that may come too early, and reads through the cache for what is only read: wrong uses and corrected twins.

__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(void* to, const void* from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(to)), "l"(from) : "memory");
}
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait_group() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
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
__device__ __forceinline__ void load(void* to, const void* from, unsigned bytes, unsigned long long* b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                 ::"r"(at(to)), "l"(from), "r"(bytes), "r"(at(b)) : "memory");
}
__device__ __forceinline__ void store(void* to, const void* from, unsigned bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(at(from)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void store_commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
__device__ __forceinline__ void store_wait_read() { asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
__device__ __forceinline__ void proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ unsigned ask(unsigned long long* b, unsigned parity) {
    unsigned over;
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(over) : "r"(at(b)), "r"(parity) : "memory");
    return over;
}
__device__ __forceinline__ unsigned try_once(unsigned long long* b, unsigned parity) {
    unsigned over;
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                 : "=r"(over) : "r"(at(b)), "r"(parity) : "memory");
    return over;
}

//@ cached_after_barrier block=64 args=a:64,out:64 fault=stale_read says=read it without __ldg
extern "C" __global__ void cached_after_barrier(float* a, float* out) {
    a[threadIdx.x] = 2.0f * threadIdx.x; // <- other
    __syncthreads();
    out[threadIdx.x] = __ldg(&a[63 - threadIdx.x]); // <- here
}
//@ plain_after_barrier_ok block=64 args=a:64,out:64 fault=none
extern "C" __global__ void plain_after_barrier_ok(float* a, float* out) {
    a[threadIdx.x] = 2.0f * threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = a[63 - threadIdx.x];
}
//@ cached_other_half_ok block=64 args=in:128,out:64 fault=none
extern "C" __global__ void cached_other_half_ok(float* a, float* out) {
    a[threadIdx.x] = 1.0f;
    __syncthreads();
    out[threadIdx.x] = __ldg(&a[64 + (threadIdx.x ^ 1)]);
}
//@ cached_own block=32 args=in:32,out:32 fault=stale_read says=but it wrote it
extern "C" __global__ void cached_own(float* a, float* out) {
    float sum = 0;
    for (int i = 0; i < 3; ++i) {
        float got;
        asm volatile("ld.global.nc.f32 %0, [%1];" : "=f"(got) : "l"(a + threadIdx.x) : "memory"); // <- here
        sum += got;
        a[threadIdx.x] = sum; // <- other
    }
    out[threadIdx.x] = sum;
}
//@ cached_alias block=64 args=both:64 fault=stale_read
__device__ __noinline__ float fetch(const float* __restrict__ from, int i) { return __ldg(from + i); } // <- here
extern "C" __global__ void cached_alias(float* a) {
    a[threadIdx.x] = 1.0f; // <- other
    __syncthreads();
    float got = fetch(a, threadIdx.x ^ 1);
    __syncthreads();
    a[threadIdx.x] = got;
}
//@ cached_in_place_ok block=64 args=in:64 fault=none
extern "C" __global__ void cached_in_place_ok(float* a) {
    a[threadIdx.x] = 2.0f * __ldg(&a[threadIdx.x]);
}
//@ cached_vector block=32 args=a:128,out:32 fault=stale_read
extern "C" __global__ void cached_vector(float4* a, float* out) {
    a[threadIdx.x].z = 1.0f; // <- other
    __syncwarp();
    out[threadIdx.x] = __ldg(&a[31 - threadIdx.x]).z; // <- here
}
//@ cached_counter grid=4 block=32 args=count:1,done:1,out:1 fault=stale_read says=updated it
extern "C" __global__ void cached_counter(unsigned* count, unsigned* done, unsigned* out) {
    if (threadIdx.x == 0) {
        atomicAdd(count, 5u); // <- other
        __threadfence();
        if (atomicAdd(done, 1u) == gridDim.x - 1) {
            __threadfence();
            *out = __ldg(count); // <- here
        }
    }
}
//@ cached_last_block grid=6 block=32 args=tmp:6,count:1,out:1 fault=stale_read
extern "C" __global__ void cached_last_block(float* tmp, unsigned* count, float* out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        tmp[blockIdx.x] = blockIdx.x; // <- other
        __threadfence();
        last = atomicAdd(count, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        __threadfence();
        float sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += __ldg(&tmp[i]); // <- here
        *out = sum;
    }
}
//@ cached_race block=64 args=a:64,out:64 fault=race
extern "C" __global__ void cached_race(float* a, float* out) {
    a[threadIdx.x] = 2.0f * threadIdx.x; // <- other
    out[threadIdx.x] = __ldg(&a[63 - threadIdx.x]); // <- here
}
//@ cached_copy_out block=32 args=a:32,out:32 fault=stale_read
extern "C" __global__ void cached_copy_out(float* a, float* out) {
    __shared__ alignas(16) float s[32];
    s[threadIdx.x] = threadIdx.x;
    proxy();
    __syncthreads();
    if (threadIdx.x == 0) {
        store(a, s, 128);
        store_commit();
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    out[threadIdx.x] = __ldg(&a[threadIdx.x ^ 1]); // <- here
}

//@ asked_not_looked block=64 args=in:64,out:64 fault=missing_async_wait says=wait again
extern "C" __global__ void asked_not_looked(const float* in, float* out) {
    __shared__ alignas(16) float s[64];
    __shared__ unsigned long long b;
    if (threadIdx.x == 0) init(&b, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&b, 256);
        load(s, in, 256, &b); // <- other
    }
    __syncthreads();
    ask(&b, 0);
    out[threadIdx.x] = s[threadIdx.x]; // <- here
}
//@ tried_not_looked block=64 args=in:64,out:64 fault=missing_async_wait says=wait again
extern "C" __global__ void tried_not_looked(const float* in, float* out) {
    __shared__ alignas(16) float s[64];
    __shared__ unsigned long long b;
    if (threadIdx.x == 0) init(&b, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&b, 256);
        load(s, in, 256, &b); // <- other
    }
    __syncthreads();
    try_once(&b, 0);
    out[threadIdx.x] = s[threadIdx.x]; // <- here
}
//@ asked_and_stored block=64 args=in:64,out:128 fault=missing_async_wait
extern "C" __global__ void asked_and_stored(const float* in, float* out) {
    __shared__ alignas(16) float s[64];
    __shared__ unsigned long long b;
    if (threadIdx.x == 0) init(&b, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&b, 256);
        load(s, in, 256, &b); // <- other
    }
    out[64 + threadIdx.x] = ask(&b, 0);
    out[threadIdx.x] = s[threadIdx.x]; // <- here
}
//@ asked_or_nothing_ok block=64 args=in:64,out:64 fault=none
extern "C" __global__ void asked_or_nothing_ok(const float* in, float* out) {
    __shared__ alignas(16) float s[64];
    __shared__ unsigned long long b;
    if (threadIdx.x == 0) init(&b, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&b, 256);
        load(s, in, 256, &b);
    }
    float value = -1;
    for (int turn = 0; turn < 100; ++turn) {
        if (ask(&b, 0)) { value = s[threadIdx.x]; break; }
        __nanosleep(20);
    }
    out[threadIdx.x] = value;
}
//@ one_lane_waited block=32 args=in:64,out:32 fault=missing_async_wait
extern "C" __global__ void one_lane_waited(const float* in, float* out) {
    __shared__ alignas(16) float s[64];
    __shared__ unsigned long long b;
    if (threadIdx.x == 0) {
        init(&b, 1);
        expect(&b, 256);
        load(s, in, 256, &b); // <- other
        wait(&b, 0);
    }
    out[threadIdx.x] = s[threadIdx.x]; // <- here
}
//@ one_lane_waited_ok block=32 args=in:64,out:32 fault=none
extern "C" __global__ void one_lane_waited_ok(const float* in, float* out) {
    __shared__ alignas(16) float s[64];
    __shared__ unsigned long long b;
    if (threadIdx.x == 0) {
        init(&b, 1);
        expect(&b, 256);
        load(s, in, 256, &b);
        wait(&b, 0);
    }
    __syncwarp();
    out[threadIdx.x] = s[threadIdx.x];
}
//@ arrivals_not_looked block=64 args=out:64 fault=race says=wait again
extern "C" __global__ void arrivals_not_looked(float* out) {
    __shared__ float s[32];
    __shared__ unsigned long long b;
    if (threadIdx.x == 0) init(&b, 32);
    __syncthreads();
    if (threadIdx.x < 32) {
        s[threadIdx.x] = threadIdx.x; // <- other
        arrive(&b);
    } else {
        for (int i = 0; i < 50; ++i) __nanosleep(100);
        ask(&b, 0);
        out[threadIdx.x] = s[threadIdx.x - 32]; // <- here
    }
}
//@ arrivals_looked_ok block=64 args=out:64 fault=none
extern "C" __global__ void arrivals_looked_ok(float* out) {
    __shared__ float s[32];
    __shared__ unsigned long long b;
    if (threadIdx.x == 0) init(&b, 32);
    __syncthreads();
    if (threadIdx.x < 32) {
        s[threadIdx.x] = threadIdx.x;
        arrive(&b);
    } else {
        while (!ask(&b, 0)) {}
        out[threadIdx.x] = s[threadIdx.x - 32];
    }
}
//@ own_arrivals_known_ok block=32 args=out:32 fault=none
extern "C" __global__ void own_arrivals_known_ok(unsigned* out) {
    __shared__ unsigned long long b;
    if (threadIdx.x == 0) init(&b, 32);
    __syncwarp();
    arrive(&b);
    __syncwarp();
    if (!ask(&b, 0)) __trap();
    out[threadIdx.x] = 1;
}
