// Waiting and order in the words of libcu++ and cooperative groups, and of hand-written pipelines: right and wrong.
#include <cuda/barrier>
#include <cuda/atomic>
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

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
//@ data_flag_fence_after grid=2 block=1 args=data:1,flag:1,out:1 fault=race
extern "C" __global__ void data_flag_fence_after(int* data, int* flag, int* out) {
    if (blockIdx.x == 0) {
        *data = 7; // <- other
        atomicExch(flag, 1);
        __threadfence();
    } else {
        while (atomicAdd(flag, 0) == 0) {}
        __threadfence();
        *out = *data; // <- here
    }
}
//@ uninit_partial_tile block=64 args=in:60,out:64 fault=uninitialised says=tile
extern "C" __global__ void uninit_partial_tile(const float* in, float* out) {
    __shared__ float tile[64];
    if (threadIdx.x < 60) tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 64; ++i) sum += tile[i]; // <- here
    out[threadIdx.x] = sum; // <- other
}
//@ mbarrier_count_too_high block=32 args=out:32 fault=deadlock says=lacks
extern "C" __global__ void mbarrier_count_too_high(float* out) {
    __shared__ unsigned long long b;
    if (threadIdx.x == 0) init(&b, 64);
    __syncthreads();
    arrive(&b);
    wait(&b, 0); // <- here
    out[threadIdx.x] = 1;
}
//@ mbarrier_second_phase_same_parity block=64 args=out:64 fault=deadlock says=phase 2
extern "C" __global__ void mbarrier_second_phase_same_parity(float* out) {
    __shared__ float s[32];
    __shared__ unsigned long long b;
    if (threadIdx.x == 0) init(&b, 32);
    __syncthreads();
    for (int k = 0; k < 2; ++k) {
        if (threadIdx.x < 32) {
            s[threadIdx.x] = k;
            arrive(&b);
        } else {
            wait(&b, 0);
            out[threadIdx.x] = s[threadIdx.x - 32];
        }
    }
}
//@ dead_barrier_and_spin block=64 args=flag:1 fault=deadlock|barrier_divergence
extern "C" __global__ void dead_barrier_and_spin(volatile int* flag) {
    if (threadIdx.x < 32) {
        while (*flag == 0) {}
    } else {
        __syncthreads();
        *flag = 1;
    }
    if (threadIdx.x < 32) __syncthreads();
}
//@ spin_in_one_warp block=32 args=out:1 fault=deadlock
extern "C" __global__ void spin_in_one_warp(int* out) {
    __shared__ volatile int turn;
    turn = 0;
    __syncwarp();
    while (turn != threadIdx.x + 1) {} // <- here
    turn = threadIdx.x + 2;
    *out = 1;
}
//@ spin_lock_all_lanes_ok grid=2 block=64 args=lock:1,sum:1 fault=none
extern "C" __global__ void spin_lock_all_lanes_ok(int* lock, int* sum) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            __threadfence();
            *sum += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
//@ last_block_reduction_ok grid=6 block=64 args=tmp:6,count:1,out:1 fault=none
extern "C" __global__ void last_block_reduction_ok(float* tmp, unsigned* count, float* out) {
    __shared__ float s[64];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    for (int h = 32; h; h /= 2) { if (t < h) s[t] += s[t + h]; __syncthreads(); }
    if (t == 0) {
        tmp[blockIdx.x] = s[0];
        __threadfence();
        last = atomicInc(count, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last) return;
    float v = t < gridDim.x ? ((volatile float*)tmp)[t] : 0;
    s[t] = v;
    __syncthreads();
    for (int h = 32; h; h /= 2) { if (t < h) s[t] += s[t + h]; __syncthreads(); }
    if (t == 0) *out = s[0];
}
//@ look_back_ok grid=8 block=32 args=state:8,value:16,out:256 fault=none
extern "C" __global__ void look_back_ok(int* state, int* value, int* out) {
    int b = blockIdx.x, t = threadIdx.x;
    int sum = __reduce_add_sync(~0u, t);
    __shared__ int before;
    if (t == 0) {
        value[2 * b] = sum;
        __threadfence();
        atomicExch(&state[b], 1);
        int prefix = 0;
        for (int p = b - 1; p >= 0; --p) {
            int s;
            while ((s = atomicAdd(&state[p], 0)) == 0) {}
            __threadfence();
            if (s == 2) { prefix += value[2 * p + 1]; break; }
            prefix += value[2 * p];
        }
        before = prefix;
        value[2 * b + 1] = prefix + sum;
        __threadfence();
        atomicExch(&state[b], 2);
    }
    __syncthreads();
    out[32 * b + t] = before + t;
}
//@ libcu_barrier_ok block=128 args=out:128 fault=none
extern "C" __global__ void libcu_barrier_ok(int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[128];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    for (int k = 0; k < 4; ++k) {
        s[threadIdx.x] = k + threadIdx.x;
        auto token = bar.arrive();
        bar.wait(std::move(token));
        out[threadIdx.x] = s[127 - threadIdx.x];
        bar.arrive_and_wait();
    }
}
//@ libcu_barrier_missing block=128 args=out:128 fault=race
extern "C" __global__ void libcu_barrier_missing(int* out) {
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    __shared__ int s[128];
    if (threadIdx.x == 0) init(&bar, blockDim.x);
    __syncthreads();
    s[threadIdx.x] = threadIdx.x; // <- other
    auto token = bar.arrive();
    out[threadIdx.x] = s[127 - threadIdx.x]; // <- here
    bar.wait(std::move(token));
}
//@ libcu_atomic_ok grid=2 block=1 args=data:1,flag:1,out:1 fault=none
extern "C" __global__ void libcu_atomic_ok(int* data, int* flag, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    if (blockIdx.x == 0) {
        *data = 3;
        f.store(1, cuda::memory_order_release);
    } else {
        while (f.load(cuda::memory_order_acquire) == 0) {}
        *out = *data;
    }
}
//@ libcu_atomic_relaxed grid=2 block=1 args=data:1,flag:1,out:1 fault=race
extern "C" __global__ void libcu_atomic_relaxed(int* data, int* flag, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*flag);
    if (blockIdx.x == 0) {
        *data = 3; // <- other
        f.store(1, cuda::memory_order_relaxed);
    } else {
        while (f.load(cuda::memory_order_acquire) == 0) {}
        *out = *data; // <- here
    }
}
//@ libcu_wrong_scope grid=2 block=1 args=data:1,flag:1,out:1 fault=race
extern "C" __global__ void libcu_wrong_scope(int* data, int* flag, int* out) {
    cuda::atomic_ref<int, cuda::thread_scope_block> f(*flag);
    if (blockIdx.x == 0) {
        *data = 3; // <- other
        f.store(1, cuda::memory_order_release);
    } else {
        while (f.load(cuda::memory_order_acquire) == 0) {}
        *out = *data; // <- here
    }
}
//@ libcu_pipeline_ok block=64 args=in:512,out:64 fault=none
extern "C" __global__ void libcu_pipeline_ok(const float* in, float* out) {
    __shared__ float s[2][64];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    float sum = 0;
    pipe.producer_acquire();
    cuda::memcpy_async(block, s[0], in, sizeof(float) * 64, pipe);
    pipe.producer_commit();
    for (int k = 0; k < 8; ++k) {
        if (k + 1 < 8) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, s[(k + 1) & 1], in + 64 * (k + 1), sizeof(float) * 64, pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += s[k & 1][63 - threadIdx.x];
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}
//@ cg_memcpy_ok block=64 args=in:64,out:64 fault=none
extern "C" __global__ void cg_memcpy_ok(const float* in, float* out) {
    __shared__ float s[64];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, 256);
    cg::wait(block);
    out[threadIdx.x] = s[63 - threadIdx.x];
}
//@ cg_memcpy_no_wait block=64 args=in:64,out:64 fault=missing_async_wait|race
extern "C" __global__ void cg_memcpy_no_wait(const float* in, float* out) {
    __shared__ float s[64];
    auto block = cg::this_thread_block();
    cg::memcpy_async(block, s, in, 256);
    block.sync();
    out[threadIdx.x] = s[63 - threadIdx.x]; // <- here
}
//@ tma_barrier_libcu_ok block=64 args=in:64,out:64 fault=none
extern "C" __global__ void tma_barrier_libcu_ok(const float* in, float* out) {
    __shared__ alignas(16) float s[64];
    __shared__ cuda::barrier<cuda::thread_scope_block> bar;
    if (threadIdx.x == 0) { init(&bar, blockDim.x); cuda::device::experimental::fence_proxy_async_shared_cta(); }
    __syncthreads();
    cuda::barrier<cuda::thread_scope_block>::arrival_token token;
    if (threadIdx.x == 0) {
        cuda::memcpy_async(s, in, cuda::aligned_size_t<16>(256), bar);
        token = bar.arrive();
    } else token = bar.arrive();
    bar.wait(std::move(token));
    out[threadIdx.x] = s[63 - threadIdx.x];
}
//@ grid_sync_ok grid=4 block=64 coop=1 args=a:256,out:256 fault=none note=none
extern "C" __global__ void grid_sync_ok(int* a, int* out) {
    int i = blockIdx.x * 64 + threadIdx.x;
    for (int k = 0; k < 3; ++k) {
        a[i] = i + k;
        cg::this_grid().sync();
        out[i] = a[255 - i];
        cg::this_grid().sync();
    }
}
//@ specialised_ok block=96 args=in:512,out:64 fault=none
extern "C" __global__ void specialised_ok(const float* in, float* out) {
    __shared__ alignas(16) float s[2][64];
    __shared__ unsigned long long full[2], empty[2];
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; ++i) { init(&full[i], 1); init(&empty[i], 2); }
    __syncthreads();
    if (threadIdx.x >= 64) {
        if (threadIdx.x == 64)
            for (int k = 0; k < 8; ++k) {
                if (k >= 2) wait(&empty[k & 1], ((k / 2) - 1) & 1);
                expect(&full[k & 1], 256);
                load(s[k & 1], in + 64 * k, 256, &full[k & 1]);
            }
    } else {
        float sum = 0;
        for (int k = 0; k < 8; ++k) {
            wait(&full[k & 1], (k / 2) & 1);
            sum += s[k & 1][63 - threadIdx.x];
            __syncwarp();
            if (threadIdx.x % 32 == 0) arrive(&empty[k & 1]);
        }
        out[threadIdx.x] = sum;
    }
}
//@ cluster_reduce_ok grid=4 cluster=4 block=64 args=out:4 fault=none
extern "C" __global__ void cluster_reduce_ok(int* out) {
    __shared__ int sum;
    auto c = cg::this_cluster();
    if (threadIdx.x == 0) sum = 0;
    c.sync();
    atomicAdd(c.map_shared_rank(&sum, 0), (int)threadIdx.x);
    c.sync();
    if (threadIdx.x == 0) out[blockIdx.x] = *c.map_shared_rank(&sum, 0);
    c.sync();
}
//@ ticket_order_ok grid=8 block=32 args=ticket:1,turn:1,sum:1 fault=none
extern "C" __global__ void ticket_order_ok(unsigned* ticket, unsigned* turn, float* sum) {
    __shared__ unsigned mine;
    if (threadIdx.x == 0) {
        mine = atomicAdd(ticket, 1u);
        while (atomicAdd(turn, 0u) != mine) {}
        __threadfence();
        *sum += mine;
        __threadfence();
        atomicAdd(turn, 1u);
    }
}
//@ priority_shuffle_ok block=64 args=out:64 fault=none
extern "C" __global__ void priority_shuffle_ok(int* out) {
    int v = threadIdx.x;
    unsigned m = __match_any_sync(~0u, v / 4);
    int leader = __ffs(m) - 1;
    v = __shfl_sync(m, v, leader);
    __syncwarp(m);
    out[threadIdx.x] = v;
}
//@ tile_partition_ok block=64 args=out:64 fault=none
extern "C" __global__ void tile_partition_ok(int* out) {
    __shared__ int s[64];
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    s[threadIdx.x] = threadIdx.x;
    tile.sync();
    out[threadIdx.x] = s[tile.meta_group_rank() * 8 + 7 - tile.thread_rank()];
}
//@ grid_sync_once grid=4 block=64 coop=1 args=in:256,out:256 fault=race
extern "C" __global__ void grid_sync_once(float* a, float* b) {
    int i = blockIdx.x * 64 + threadIdx.x;
    for (int k = 0; k < 3; ++k) {
        b[i] = a[(i + 255) & 255] + a[(i + 1) & 255]; // <- other
        cg::this_grid().sync();
        a[i] = b[i]; // <- here
        __syncthreads();
    }
}
//@ grid_arrive_wait_ok grid=4 block=64 coop=1 args=in:256,out:256,own:256 fault=none note=none
extern "C" __global__ void grid_arrive_wait_ok(float* a, float* b, float* own) {
    int i = blockIdx.x * 64 + threadIdx.x;
    auto grid = cg::this_grid();
    for (int k = 0; k < 3; ++k) {
        b[i] = a[(i + 255) & 255] + a[(i + 1) & 255];
        auto token = grid.barrier_arrive();
        own[i] += b[i];
        grid.barrier_wait(cuda::std::move(token));
        a[i] = b[i];
        grid.sync();
    }
}
//@ grid_sync_plain grid=4 block=64 args=a:256 fault=trap says=not a cooperative launch
extern "C" __global__ void grid_sync_plain(int* a) {
    a[blockIdx.x * 64 + threadIdx.x] = cg::this_grid().thread_rank();
    cg::this_grid().sync();
}
