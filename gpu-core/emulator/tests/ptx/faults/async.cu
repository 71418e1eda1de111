// Asynchronous copies, mbarriers and their proxies: wrong uses and corrected twins.

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

//@ groups_ok block=32 args=in:512,out:32 fault=none
extern "C" __global__ void groups_ok(const float* in, float* out) {
    __shared__ float4 s[2][32];
    float sum = 0;
    copy16(&s[0][threadIdx.x], in + 4 * threadIdx.x);
    commit();
    for (int i = 0; i < 4; ++i) {
        if (i < 3) copy16(&s[(i + 1) & 1][threadIdx.x], in + 128 * (i + 1) + 4 * threadIdx.x);
        commit();
        wait_group<1>();
        __syncthreads();
        sum += s[i & 1][31 - threadIdx.x].x;
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
//@ groups_one_too_few block=32 args=in:512,out:32 fault=missing_async_wait
extern "C" __global__ void groups_one_too_few(const float* in, float* out) {
    __shared__ float4 s[2][32];
    float sum = 0;
    copy16(&s[0][threadIdx.x], in + 4 * threadIdx.x);
    commit();
    for (int i = 0; i < 4; ++i) {
        if (i < 3) copy16(&s[(i + 1) & 1][threadIdx.x], in + 128 * (i + 1) + 4 * threadIdx.x);
        commit();
        wait_group<2>();
        __syncthreads();
        sum += s[i & 1][31 - threadIdx.x].x; // <- here
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
//@ groups_last_iteration block=32 args=in:512,out:32 fault=missing_async_wait
extern "C" __global__ void groups_last_iteration(const float* in, float* out) {
    __shared__ float4 s[2][32];
    float sum = 0;
    copy16(&s[0][threadIdx.x], in + 4 * threadIdx.x);
    commit();
    for (int i = 0; i < 4; ++i) {
        if (i < 3) {
            copy16(&s[(i + 1) & 1][threadIdx.x], in + 128 * (i + 1) + 4 * threadIdx.x);
            commit();
        }
        wait_group<1>();
        __syncthreads();
        sum += s[i & 1][31 - threadIdx.x].x; // <- here
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
//@ no_commit block=32 args=in:512,out:32 fault=missing_async_wait
extern "C" __global__ void no_commit(const float* in, float* out) {
    __shared__ float4 s[32];
    copy16(&s[threadIdx.x], in + 4 * threadIdx.x); // <- other
    wait_group<0>();
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x].x; // <- here
}
// The wait covers the thread's own copies only, and only a barrier behind it tells the others.
//@ barrier_before_wait block=64 args=in:512,out:64 fault=race|missing_async_wait
extern "C" __global__ void barrier_before_wait(const float* in, float* out) {
    __shared__ float4 s[64];
    copy16(&s[threadIdx.x], in + 4 * threadIdx.x); // <- other
    commit();
    __syncthreads();
    wait_group<0>();
    if (threadIdx.x >= 32) out[threadIdx.x] = s[63 - threadIdx.x].x; // <- here
}
//@ overwrite_while_read block=64 args=in:512,out:64 fault=race
extern "C" __global__ void overwrite_while_read(const float* in, float* out) {
    __shared__ float4 s[64];
    float sum = 0;
    for (int i = 0; i < 2; ++i) {
        copy16(&s[threadIdx.x], in + 256 * i + 4 * threadIdx.x); // <- here
        commit();
        wait_group<0>();
        __syncthreads();
        sum += s[63 - threadIdx.x].x; // <- other
    }
    out[threadIdx.x] = sum;
}
//@ copy_arrive_ok block=64 args=in:512,out:64 fault=none
extern "C" __global__ void copy_arrive_ok(const float* in, float* out) {
    __shared__ float4 s[64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 64);
    __syncthreads();
    copy16(&s[threadIdx.x], in + 4 * threadIdx.x);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%0];" ::"r"(at(&full)) : "memory");
    wait(&full, 0);
    out[threadIdx.x] = s[63 - threadIdx.x].x;
}
//@ bulk_ok block=64 args=in:64,out:64 fault=none
extern "C" __global__ void bulk_ok(const float* in, float* out) {
    __shared__ __align__(16) float s[64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 1);
    __syncthreads();
    if (threadIdx.x == 0) { expect(&full, 256); load(s, in, 256, &full); }
    wait(&full, 0);
    out[threadIdx.x] = s[63 - threadIdx.x];
}
//@ bulk_one_waits_ok block=64 args=in:64,out:64 fault=none
extern "C" __global__ void bulk_one_waits_ok(const float* in, float* out) {
    __shared__ __align__(16) float s[64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) {
        init(&full, 1);
        expect(&full, 256);
        load(s, in, 256, &full);
        wait(&full, 0);
    }
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
//@ bulk_no_wait block=64 args=in:64,out:64 fault=missing_async_wait
extern "C" __global__ void bulk_no_wait(const float* in, float* out) {
    __shared__ __align__(16) float s[64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) { init(&full, 1); expect(&full, 256); load(s, in, 256, &full); } // <- other
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x]; // <- here
}
// The parity of the phase before is over from the start: the wait passes at once.
//@ bulk_wrong_parity block=64 args=in:64,out:64 fault=barrier_phase says=parity
extern "C" __global__ void bulk_wrong_parity(const float* in, float* out) {
    __shared__ __align__(16) float s[64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 1);
    __syncthreads();
    if (threadIdx.x == 0) { expect(&full, 256); load(s, in, 256, &full); } // <- other
    if (threadIdx.x >= 32) {
        wait(&full, 1);
        out[threadIdx.x] = s[63 - threadIdx.x]; // <- here
    }
}
//@ bulk_parity_not_flipped block=64 args=in:256,out:64 fault=barrier_phase says=parity
extern "C" __global__ void bulk_parity_not_flipped(const float* in, float* out) {
    __shared__ __align__(16) float s[64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 1);
    float sum = 0;
    for (int i = 0; i < 2; ++i) {
        __syncthreads();
        if (threadIdx.x == 0) { expect(&full, 256); load(s, in + 64 * i, 256, &full); }
        if (threadIdx.x == 0) wait(&full, i & 1);
        if (threadIdx.x >= 32) {
            wait(&full, 0);
            sum += s[63 - threadIdx.x]; // <- here
        }
    }
    out[threadIdx.x] = sum;
}
//@ bulk_parity_flipped_ok block=64 args=in:256,out:64 fault=none
extern "C" __global__ void bulk_parity_flipped_ok(const float* in, float* out) {
    __shared__ __align__(16) float s[64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 1);
    float sum = 0;
    for (int i = 0; i < 3; ++i) {
        __syncthreads();
        if (threadIdx.x == 0) { expect(&full, 256); load(s, in + 64 * i, 256, &full); }
        wait(&full, i & 1);
        sum += s[63 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}
// Two stages, two barriers: waiting for one says nothing of the other.
//@ bulk_other_stage block=64 args=in:128,out:64 fault=missing_async_wait
extern "C" __global__ void bulk_other_stage(const float* in, float* out) {
    __shared__ __align__(16) float s[2][64];
    __shared__ unsigned long long full[2];
    if (threadIdx.x == 0) {
        init(&full[0], 1);
        init(&full[1], 1);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; ++i) { expect(&full[i], 256); load(s[i], in + 64 * i, 256, &full[i]); }
    wait(&full[1], 0);
    out[threadIdx.x] = s[0][threadIdx.x] + s[1][threadIdx.x]; // <- here
}
// The producer fills the buffer again without waiting for anybody.
//@ bulk_refill_early block=96 args=in:256,out:64 fault=missing_async_wait|race
extern "C" __global__ void bulk_refill_early(const float* in, float* out) {
    __shared__ __align__(16) float s[64];
    __shared__ unsigned long long full[2];
    if (threadIdx.x == 0) { init(&full[0], 1); init(&full[1], 1); }
    __syncthreads();
    if (threadIdx.x >= 64) {
        if (threadIdx.x == 64)
            for (int i = 0; i < 2; ++i) { expect(&full[i], 256); load(s, in + 64 * i, 256, &full[i]); } // <- here
    } else {
        float sum = 0;
        for (int i = 0; i < 2; ++i) {
            wait(&full[i], 0);
            sum += s[63 - threadIdx.x];
        }
        out[threadIdx.x] = sum;
    }
}
//@ pipeline_ok block=96 args=in:256,out:64 fault=none
extern "C" __global__ void pipeline_ok(const float* in, float* out) {
    __shared__ __align__(16) float s[2][64];
    __shared__ unsigned long long full[2], empty[2];
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; ++i) { init(&full[i], 1); init(&empty[i], 64); }
    __syncthreads();
    if (threadIdx.x >= 64) {
        if (threadIdx.x == 64)
            for (int i = 0; i < 4; ++i) {
                wait(&empty[i & 1], (i / 2 & 1) ^ 1);
                expect(&full[i & 1], 256);
                load(s[i & 1], in + 64 * i, 256, &full[i & 1]);
            }
    } else {
        float sum = 0;
        for (int i = 0; i < 4; ++i) {
            wait(&full[i & 1], i / 2 & 1);
            sum += s[i & 1][63 - threadIdx.x];
            arrive(&empty[i & 1]);
        }
        out[threadIdx.x] = sum;
    }
}
//@ pipeline_arrives_before_read block=96 args=in:256,out:64 fault=race
extern "C" __global__ void pipeline_arrives_before_read(const float* in, float* out) {
    __shared__ __align__(16) float s[2][64];
    __shared__ unsigned long long full[2], empty[2];
    if (threadIdx.x == 0)
        for (int i = 0; i < 2; ++i) { init(&full[i], 1); init(&empty[i], 64); }
    __syncthreads();
    if (threadIdx.x >= 64) {
        if (threadIdx.x == 64)
            for (int i = 0; i < 4; ++i) {
                wait(&empty[i & 1], (i / 2 & 1) ^ 1);
                expect(&full[i & 1], 256);
                load(s[i & 1], in + 64 * i, 256, &full[i & 1]);
            }
    } else {
        float sum = 0;
        for (int i = 0; i < 4; ++i) {
            wait(&full[i & 1], i / 2 & 1);
            arrive(&empty[i & 1]);
            sum += s[i & 1][63 - threadIdx.x];
        }
        out[threadIdx.x] = sum;
    }
}
//@ init_not_synced block=64 args=in:64,out:64 fault=barrier_phase
extern "C" __global__ void init_not_synced(const float* in, float* out) {
    __shared__ __align__(16) float s[64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) { init(&full, 1); expect(&full, 256); load(s, in, 256, &full); }
    wait(&full, 0);
    out[threadIdx.x] = s[63 - threadIdx.x];
}
//@ never_initialised block=64 args=in:64,out:64 fault=barrier_phase says=mbarrier.init
extern "C" __global__ void never_initialised(const float* in, float* out) {
    __shared__ unsigned long long full;
    wait(&full, 0);
    out[threadIdx.x] = in[threadIdx.x];
}
//@ arrive_too_often block=64 args=out:64 fault=barrier_phase
extern "C" __global__ void arrive_too_often(float* out) {
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 1);
    __syncthreads();
    if (threadIdx.x == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0], 2;" ::"r"(at(&full)) : "memory"); // <- here
    wait(&full, 0);
    out[threadIdx.x] = 1;
}
//@ arrive_too_few block=64 args=out:64 fault=deadlock says=mbarrier
extern "C" __global__ void arrive_too_few(float* out) {
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 64);
    __syncthreads();
    if (threadIdx.x < 63) arrive(&full);
    wait(&full, 0);
    out[threadIdx.x] = 1;
}
//@ expect_too_much block=64 args=in:64,out:64 fault=deadlock says=bytes
extern "C" __global__ void expect_too_much(const float* in, float* out) {
    __shared__ __align__(16) float s[64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 1);
    __syncthreads();
    if (threadIdx.x == 0) { expect(&full, 512); load(s, in, 256, &full); }
    wait(&full, 0);
    out[threadIdx.x] = s[63 - threadIdx.x];
}
//@ bulk_misaligned block=32 args=in:64,out:32 fault=misaligned
extern "C" __global__ void bulk_misaligned(const float* in, float* out) {
    __shared__ __align__(16) float s[64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 1);
    __syncthreads();
    if (threadIdx.x == 0) { expect(&full, 128); load(s, in + 1, 128, &full); }
    wait(&full, 0);
    out[threadIdx.x] = s[threadIdx.x];
}
//@ bulk_oob block=32 args=in:64,out:32 fault=out_of_bounds
extern "C" __global__ void bulk_oob(const float* in, float* out) {
    __shared__ __align__(16) float s[64];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 1);
    __syncthreads();
    if (threadIdx.x == 0) { expect(&full, 256); load(s, in + 4, 256, &full); }
    wait(&full, 0);
    out[threadIdx.x] = s[threadIdx.x];
}
//@ store_ok block=64 args=out:128 fault=none
extern "C" __global__ void store_ok(float* out) {
    __shared__ __align__(16) float s[64];
    for (int i = 0; i < 2; ++i) {
        s[threadIdx.x] = threadIdx.x + i;
        proxy();
        __syncthreads();
        if (threadIdx.x == 0) {
            store(out + 64 * i, s, 256);
            store_commit();
            store_wait_read();
        }
        __syncthreads();
    }
}
// The fence may also stand between the barrier and the copy.
//@ store_fence_behind_ok block=64 args=out:64 fault=none
extern "C" __global__ void store_fence_behind_ok(float* out) {
    __shared__ __align__(16) float s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        proxy();
        store(out, s, 256);
        store_commit();
        store_wait_read();
    }
}
//@ store_no_proxy_fence block=64 args=out:64 fault=missing_async_wait says=fence.proxy.async
extern "C" __global__ void store_no_proxy_fence(float* out) {
    __shared__ __align__(16) float s[64];
    s[threadIdx.x] = threadIdx.x; // <- other
    __syncthreads();
    if (threadIdx.x == 0) {
        store(out, s, 256);
        store_commit();
        store_wait_read();
    }
}
//@ store_no_barrier block=64 args=out:64 fault=race
extern "C" __global__ void store_no_barrier(float* out) {
    __shared__ __align__(16) float s[64];
    s[threadIdx.x] = threadIdx.x;
    proxy();
    if (threadIdx.x == 32) {
        store(out, s, 256);
        store_commit();
        store_wait_read();
    }
}
//@ store_overwritten block=64 args=out:128 fault=missing_async_wait says=wait_group
extern "C" __global__ void store_overwritten(float* out) {
    __shared__ __align__(16) float s[64];
    for (int i = 0; i < 2; ++i) {
        s[threadIdx.x] = threadIdx.x + i; // <- here
        proxy();
        __syncthreads();
        if (threadIdx.x == 0) {
            store(out + 64 * i, s, 256);
            store_commit();
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) store_wait_read();
}
//@ store_waited_no_barrier block=64 args=out:128 fault=race
extern "C" __global__ void store_waited_no_barrier(float* out) {
    __shared__ __align__(16) float s[64];
    for (int i = 0; i < 2; ++i) {
        s[threadIdx.x] = threadIdx.x + i;
        proxy();
        __syncthreads();
        if (threadIdx.x == 0) {
            store(out + 64 * i, s, 256);
            store_commit();
            store_wait_read();
        }
    }
}
//@ store_never_waited block=64 args=out:64 fault=missing_async_wait says=ends
extern "C" __global__ void store_never_waited(float* out) {
    __shared__ __align__(16) float s[64];
    s[threadIdx.x] = threadIdx.x;
    proxy();
    __syncthreads();
    if (threadIdx.x == 0) {
        store(out, s, 256); // <- here
        store_commit();
    }
}
//@ stale_token block=64 args=out:64 fault=barrier_phase says=phase 0
extern "C" __global__ void stale_token(float* out) {
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) init(&bar, 64);
    __syncthreads();
    unsigned long long token;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(at(&bar)) : "memory");
    for (int i = 0; i < 2; ++i) {
        __syncthreads();
        if (i == 1) arrive(&bar);
        __syncthreads();
        asm volatile("{.reg .pred p; again: mbarrier.test_wait.shared::cta.b64 p, [%0], %1; @p bra done; bra again; done: }" // <- here
                     ::"r"(at(&bar)), "l"(token) : "memory");
    }
    out[threadIdx.x] = 1;
}
//@ no_arrivals block=32 args=out:32,n=0 fault=barrier_phase says=arrivals
extern "C" __global__ void no_arrivals(float* out, int n) {
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) init(&bar, n);
    __syncthreads();
    out[threadIdx.x] = 1;
}
// Two blocks store to one place.
//@ store_overlapping grid=2 block=32 args=out:64 fault=race
extern "C" __global__ void store_overlapping(float* out) {
    __shared__ __align__(16) float s[32];
    s[threadIdx.x] = threadIdx.x;
    proxy();
    __syncwarp();
    if (threadIdx.x == 0) {
        store(out + 16 * blockIdx.x, s, 128); // <- here
        store_commit();
        store_wait_read();
    }
}
// One block stores what another loads, with nothing between them.
//@ load_while_stored grid=2 block=32 args=out:64 fault=race
extern "C" __global__ void load_while_stored(float* out) {
    __shared__ __align__(16) float s[32];
    __shared__ unsigned long long full;
    if (blockIdx.x == 0) {
        out[threadIdx.x] = threadIdx.x; // <- other
    } else if (threadIdx.x == 0) {
        init(&full, 1);
        expect(&full, 128);
        load(s, out, 128, &full); // <- here
        wait(&full, 0);
        out[32] = s[31];
    }
}
struct alignas(64) Map { char bytes[128]; };
//@ tensor_ok block=64 args=map:64:32:32:16,out:64 fault=none
extern "C" __global__ void tensor_ok(const __grid_constant__ Map map, float* out) {
    __shared__ __align__(128) float s[512];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&full, 2048);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
                     ::"r"(at(s)), "l"(&map), "r"(32), "r"(16), "r"(at(&full)) : "memory");
    }
    wait(&full, 0);
    out[threadIdx.x] = s[threadIdx.x];
}
//@ tensor_wrong_parity block=64 args=map:64:32:32:16,out:64 fault=barrier_phase
extern "C" __global__ void tensor_wrong_parity(const __grid_constant__ Map map, float* out) {
    __shared__ __align__(128) float s[512];
    __shared__ unsigned long long full;
    if (threadIdx.x == 0) init(&full, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        expect(&full, 2048);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" // <- other
                     ::"r"(at(s)), "l"(&map), "r"(32), "r"(16), "r"(at(&full)) : "memory");
    }
    if (threadIdx.x >= 32) {
        wait(&full, 1);
        out[threadIdx.x] = s[threadIdx.x]; // <- here
    }
}
//@ tensor_store_no_fence block=64 args=map:64:32:32:16 fault=missing_async_wait says=fence.proxy.async
extern "C" __global__ void tensor_store_no_fence(const __grid_constant__ Map map) {
    __shared__ __align__(128) float s[512];
    for (int i = threadIdx.x; i < 512; i += 64) s[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" // <- here
                     ::"l"(&map), "r"(0), "r"(0), "r"(at(s)) : "memory");
        store_commit();
        store_wait_read();
    }
}
