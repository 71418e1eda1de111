// tma.cuh: barriers that count bytes, the copy engine and clusters (sm_90 up) under readable names.
//
// CUDA C++ has no built-in functions for these, and the headers that wrap them cost seconds of compile time, so each is one PTX
// instruction here: mbarrier, cp.async.bulk.tensor and barrier.cluster in the PTX manual. Included as `#include "tma.cuh"`.
#pragma once
#include "mma.cuh"

// ---------------------------------------------------------------- clusters and barriers of threads

// This block's rank inside its cluster, 0 when launched without one.
__device__ inline uint32_t cluster_rank()
{
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

// All threads of all blocks of the cluster wait for each other. Threads that have left do not count.
__device__ inline void cluster_sync()
{
    __syncwarp(); // ".aligned" promises that the lanes of a warp come together
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
}

// The same without ordering memory, which is what costs time: cluster_sync waits for all stores on their way, in all of memory.
// Enough where barrier_init_fence came before.
__device__ inline void cluster_meet()
{
    __syncwarp();
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\n\tbarrier.cluster.wait.aligned;" ::: "memory");
}

// Barrier number `id` (1 to 15; 0 is __syncthreads) among `threads` threads of the block.
__device__ inline void named_barrier(int id, int threads)
{
    asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory");
}

// ---------------------------------------------------------------- mbarrier
// A 64-bit word in shared memory that counts arrivals and bytes. A phase ends when both are complete, and the next one begins; a
// waiter names the phase it waits for by its parity, 0 for the first.

__device__ inline void barrier_init(uint32_t barrier, uint32_t arrivals)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

// Makes initialized barriers visible to the copy engine and to the other blocks of the cluster; then synchronize.
__device__ inline void barrier_init_fence()
{
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// One arrival that also says how many bytes the copy engine will bring in this phase.
__device__ inline void barrier_expect(uint32_t barrier, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ inline void barrier_arrive(uint32_t barrier)
{
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

// One arrival of this thread that happens by itself, once all cp.async copies that it has started so far have landed.
__device__ inline void barrier_arrive_after_copies(uint32_t barrier)
{
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(barrier) : "memory");
}

// The same at the same offset in the shared memory of block `rank` of the cluster (which may be this one).
__device__ inline void barrier_arrive_at(uint32_t barrier, uint32_t rank)
{
    asm volatile(
        "{\n\t"
        ".reg .b32 remote;\n\t"
        "mapa.shared::cluster.u32 remote, %0, %1;\n\t"
        "mbarrier.arrive.shared::cluster.b64 _, [remote];\n\t"
        "}" ::"r"(barrier),
        "r"(rank)
        : "memory");
}

// Sleeps until the phase of this parity is over. try_wait gives up after a while by itself, hence the loop.
__device__ inline void barrier_wait(uint32_t barrier, uint32_t parity)
{
    asm volatile(
        "{\n\t"
        ".reg .pred done;\n\t"
        "again:\n\t"
        "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n\t"
        "@!done bra again;\n\t"
        "}" ::"r"(barrier),
        "r"(parity)
        : "memory");
}

// ---------------------------------------------------------------- tensor copies (TMA)
// One thread starts the copy of a whole box. x is the coordinate along the row, y the row; both may lie outside: loads fill
// with zeros, stores are clipped.

__device__ inline void prefetch_map(const CUtensorMap* map)
{
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

__device__ inline void load_box(uint32_t destination, const CUtensorMap* map, uint32_t barrier, int x, int y)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(destination),
        "l"(map), "r"(barrier), "r"(x), "r"(y)
        : "memory");
}

// The form for chips without clusters of their own to deliver to (sm_120, sm_121): there the one above compiles to a test and a branch.
__device__ inline void load_box_here(uint32_t destination, const CUtensorMap* map, uint32_t barrier, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], [%2];" ::"r"(destination),
                 "l"(map), "r"(barrier), "r"(x), "r"(y)
                 : "memory");
}

// Lands at the same offset in every block of the cluster whose bit is set, and counts on each one's own barrier.
__device__ inline void load_box_to(uint16_t blocks, uint32_t destination, const CUtensorMap* map, uint32_t barrier, int x, int y)
{
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[%0], [%1, {%3, %4}], [%2], %5;" ::"r"(destination),
        "l"(map), "r"(barrier), "r"(x), "r"(y), "h"(blocks)
        : "memory");
}

__device__ inline void store_box(const CUtensorMap* map, uint32_t source, int x, int y)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(map), "r"(source), "r"(x), "r"(y)
                 : "memory");
}

__device__ inline void store_commit()
{
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// Until all but the newest KEEP groups of this thread's stores have read their shared memory, which may then be reused.
template <int KEEP>
__device__ inline void store_wait_read()
{
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(KEEP) : "memory");
}

// Ordinary stores to shared memory by this thread become visible to the copy engine and to wgmma ("the async proxy").
__device__ inline void fence_async_shared()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
