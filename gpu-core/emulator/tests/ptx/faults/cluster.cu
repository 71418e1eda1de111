// Blocks of a cluster that reach into each other's shared memory: wrong uses and corrected twins.

__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void sync() {
    asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ __forceinline__ unsigned peer(const void* p, unsigned rank) {
    unsigned r;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(at(p)), "r"(rank));
    return r;
}
__device__ __forceinline__ unsigned read(unsigned a) {
    unsigned v;
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(a) : "memory");
    return v;
}
__device__ __forceinline__ void write(unsigned a, unsigned v) { asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(a), "r"(v) : "memory"); }
__device__ __forceinline__ unsigned rank() {
    unsigned r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}
__device__ __forceinline__ void wait(unsigned long long* b, unsigned parity) {
    asm volatile("{.reg .pred p; again: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; @p bra done; bra again; done: }"
                 ::"r"(at(b)), "r"(parity) : "memory");
}

//@ exchange_ok grid=4 cluster=2 block=32 args=out:128 fault=none
extern "C" __global__ void exchange_ok(unsigned* out) {
    __shared__ unsigned s[32];
    s[threadIdx.x] = blockIdx.x;
    sync();
    out[blockIdx.x * 32 + threadIdx.x] = read(peer(&s[31 - threadIdx.x], rank() ^ 1));
    sync();
}
//@ exchange_no_sync grid=4 cluster=2 block=32 args=out:128 fault=race
extern "C" __global__ void exchange_no_sync(unsigned* out) {
    __shared__ unsigned s[32];
    sync();
    s[threadIdx.x] = blockIdx.x; // <- other
    __syncthreads();
    unsigned v = rank() == 1 ? read(peer(&s[31 - threadIdx.x], 0)) : 0; // <- here
    out[blockIdx.x * 32 + threadIdx.x] = v;
    sync();
}
//@ write_peer_no_sync grid=2 cluster=2 block=32 args=out:64 fault=race
extern "C" __global__ void write_peer_no_sync(unsigned* out) {
    __shared__ unsigned s[32];
    sync();
    write(peer(&s[threadIdx.x], rank() ^ 1), blockIdx.x); // <- other
    __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x]; // <- here
    sync();
}
//@ write_peer_ok grid=2 cluster=2 block=32 args=out:64 fault=none
extern "C" __global__ void write_peer_ok(unsigned* out) {
    __shared__ unsigned s[32];
    sync();
    write(peer(&s[threadIdx.x], rank() ^ 1), blockIdx.x);
    sync();
    out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}
//@ two_writers grid=4 cluster=4 block=32 args=out:128 fault=race
extern "C" __global__ void two_writers(unsigned* out) {
    __shared__ unsigned s[32];
    sync();
    if (rank() > 1) write(peer(&s[threadIdx.x], 0), blockIdx.x); // <- here
    sync();
    out[blockIdx.x * 32 + threadIdx.x] = rank() == 0 ? s[threadIdx.x] : 0;
}
//@ peer_not_started grid=2 cluster=2 block=32 args=out:64 fault=race says=start
extern "C" __global__ void peer_not_started(unsigned* out) {
    __shared__ unsigned s[32];
    write(peer(&s[threadIdx.x], rank() ^ 1), blockIdx.x); // <- here
    sync();
    out[blockIdx.x * 32 + threadIdx.x] = s[threadIdx.x];
}
//@ peer_exits grid=2 cluster=2 block=32 args=out:64 fault=use_after_free says=end
extern "C" __global__ void peer_exits(unsigned* out) {
    __shared__ unsigned s[32];
    s[threadIdx.x] = blockIdx.x;
    sync();
    out[blockIdx.x * 32 + threadIdx.x] = read(peer(&s[31 - threadIdx.x], rank() ^ 1)); // <- here
}
//@ peer_out_of_bounds grid=2 cluster=2 block=32 args=out:64 fault=out_of_bounds
extern "C" __global__ void peer_out_of_bounds(unsigned* out) {
    __shared__ unsigned s[32];
    s[threadIdx.x] = blockIdx.x;
    sync();
    out[blockIdx.x * 32 + threadIdx.x] = read(peer(s, rank() ^ 1) + 4 * threadIdx.x + 4); // <- here
    sync();
}
//@ peer_rank grid=2 cluster=2 block=32 args=out:64 fault=out_of_bounds says=block 2 of its cluster
extern "C" __global__ void peer_rank(unsigned* out) {
    __shared__ unsigned s[32];
    s[threadIdx.x] = blockIdx.x;
    sync();
    out[blockIdx.x * 32 + threadIdx.x] = read(peer(&s[threadIdx.x], rank() + 1)); // <- here
    sync();
}
//@ peer_histogram_ok grid=2 cluster=2 block=32 args=out:8 fault=none
extern "C" __global__ void peer_histogram_ok(unsigned* out) {
    __shared__ unsigned h[4];
    if (threadIdx.x < 4) h[threadIdx.x] = 0;
    sync();
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(peer(&h[threadIdx.x % 4], threadIdx.x / 16)) : "memory");
    sync();
    if (threadIdx.x < 4) out[rank() * 4 + threadIdx.x] = h[threadIdx.x];
}
//@ peer_histogram_no_sync grid=2 cluster=2 block=32 args=out:8 fault=race
extern "C" __global__ void peer_histogram_no_sync(unsigned* out) {
    __shared__ unsigned h[4];
    if (threadIdx.x < 4) h[threadIdx.x] = 0;
    sync();
    asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], 1;" ::"r"(peer(&h[threadIdx.x % 4], threadIdx.x / 16)) : "memory"); // <- other
    __syncthreads();
    if (threadIdx.x < 4) out[rank() * 4 + threadIdx.x] = h[threadIdx.x]; // <- here
    sync();
}
//@ remote_arrive_ok grid=2 cluster=2 block=32 args=out:64 fault=none
extern "C" __global__ void remote_arrive_ok(unsigned* out) {
    __shared__ unsigned s[32];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(at(&full)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    sync();
    write(peer(&s[threadIdx.x], rank() ^ 1), blockIdx.x);
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(peer(&full, rank() ^ 1)) : "memory");
    wait(&full, 0);
    out[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x];
    sync();
}
//@ remote_arrive_early grid=2 cluster=2 block=32 args=out:64 fault=race
extern "C" __global__ void remote_arrive_early(unsigned* out) {
    __shared__ unsigned s[32];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(at(&full)) : "memory");
    sync();
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(peer(&full, rank() ^ 1)) : "memory");
    write(peer(&s[threadIdx.x], rank() ^ 1), blockIdx.x);
    wait(&full, 0);
    out[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x];
    sync();
}
//@ remote_barrier_not_initialised grid=2 cluster=2 block=32 args=out:64 fault=barrier_phase
extern "C" __global__ void remote_barrier_not_initialised(unsigned* out) {
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(at(&full)) : "memory");
    __syncthreads();
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(peer(&full, rank() ^ 1)) : "memory");
    wait(&full, 0);
    out[blockIdx.x * 32 + threadIdx.x] = 1;
    sync();
}
//@ st_async_ok grid=2 cluster=2 block=32 args=out:64 fault=none
extern "C" __global__ void st_async_ok(unsigned* out) {
    __shared__ unsigned s[32];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(at(&full)) : "memory");
    }
    sync();
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];"
                 ::"r"(peer(&s[threadIdx.x], rank() ^ 1)), "r"(blockIdx.x * 100 + threadIdx.x), "r"(peer(&full, rank() ^ 1)) : "memory");
    wait(&full, 0);
    out[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x];
    sync();
}
//@ st_async_no_wait grid=2 cluster=2 block=32 args=out:64 fault=missing_async_wait
extern "C" __global__ void st_async_no_wait(unsigned* out) {
    __shared__ unsigned s[32];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(at(&full)) : "memory");
    }
    sync();
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" // <- other
                 ::"r"(peer(&s[threadIdx.x], rank() ^ 1)), "r"(blockIdx.x * 100 + threadIdx.x), "r"(peer(&full, rank() ^ 1)) : "memory");
    sync();
    out[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x]; // <- here
    wait(&full, 0);
}
//@ red_async_ok grid=2 cluster=2 block=32 args=out:2 fault=none
extern "C" __global__ void red_async_ok(unsigned* out) {
    __shared__ unsigned s;
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        s = 5;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(at(&full)) : "memory");
    }
    sync();
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];"
                 ::"r"(peer(&s, rank() ^ 1)), "r"(threadIdx.x), "r"(peer(&full, rank() ^ 1)) : "memory");
    wait(&full, 0);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
    sync();
}
//@ multicast_ok grid=2 cluster=2 block=32 args=in:64,out:64 fault=none
extern "C" __global__ void multicast_ok(const float* in, float* out) {
    __shared__ __align__(16) float s[32];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(at(&full)) : "memory");
    }
    sync();
    if (rank() == 0 && threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 128, [%2], %3;"
                     ::"r"(at(s)), "l"(in), "r"(at(&full)), "h"((unsigned short)3) : "memory");
    wait(&full, 0);
    out[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x];
    sync();
}
//@ multicast_no_wait grid=2 cluster=2 block=32 args=in:64,out:64 fault=missing_async_wait
extern "C" __global__ void multicast_no_wait(const float* in, float* out) {
    __shared__ __align__(16) float s[32];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full)) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(at(&full)) : "memory");
    }
    sync();
    if (rank() == 0 && threadIdx.x == 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 128, [%2], %3;"
                     ::"r"(at(s)), "l"(in), "r"(at(&full)), "h"((unsigned short)3) : "memory");
    if (rank() == 0) wait(&full, 0);
    sync();
    out[blockIdx.x * 32 + threadIdx.x] = s[31 - threadIdx.x]; // <- here
    sync();
}
