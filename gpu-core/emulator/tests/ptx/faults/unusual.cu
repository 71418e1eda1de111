// Mistakes that are seldom made on purpose, each beside its right twin: mixed kinds of order, barriers used again,
// values defined in part, and memory that is somebody else's.

__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(void* to, const void* from, unsigned bytes = 16) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at(to)), "l"(from), "r"(bytes) : "memory");
}
__device__ __forceinline__ void wait_copies() { asm volatile("cp.async.wait_all;" ::: "memory"); }
__device__ __forceinline__ void init(void* b, unsigned n) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory");
}
__device__ __forceinline__ void arrive(void* b) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory");
}
__device__ __forceinline__ void wait(void* b, unsigned parity) {
    asm volatile("{.reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra done; bra again; done: }"
                 ::"r"(at(b)), "r"(parity) : "memory");
}
__device__ __forceinline__ void named_sync(int id, int threads) { asm volatile("bar.sync %0, %1;" ::"r"(id), "r"(threads) : "memory"); }
__device__ __forceinline__ void named_arrive(int id, int threads) { asm volatile("bar.arrive %0, %1;" ::"r"(id), "r"(threads) : "memory"); }

//@ copy_under_plain_store block=64 args=in:256,out:64 fault=race|missing_async_wait
extern "C" __global__ void copy_under_plain_store(const float* in, float* out) {
    __shared__ float4 s[64];
    copy16(&s[threadIdx.x], in + 4 * threadIdx.x);
    s[threadIdx.x].x = 1; // <- here
    wait_copies();
    out[threadIdx.x] = s[threadIdx.x].y;
}
//@ copy_then_plain_store_ok block=64 args=in:256,out:64 fault=none
extern "C" __global__ void copy_then_plain_store_ok(const float* in, float* out) {
    __shared__ float4 s[64];
    copy16(&s[threadIdx.x], in + 4 * threadIdx.x);
    wait_copies();
    s[threadIdx.x].x = 1;
    out[threadIdx.x] = s[threadIdx.x].x + s[threadIdx.x].y;
}
//@ copy_read_by_neighbour block=64 args=in:256,out:64 fault=race|missing_async_wait
extern "C" __global__ void copy_read_by_neighbour(const float* in, float* out) {
    __shared__ float4 s[64];
    copy16(&s[threadIdx.x], in + 4 * threadIdx.x);
    wait_copies();
    out[threadIdx.x] = s[63 - threadIdx.x].y; // <- here
}
//@ copy_read_by_neighbour_ok block=64 args=in:256,out:64 fault=none
extern "C" __global__ void copy_read_by_neighbour_ok(const float* in, float* out) {
    __shared__ float4 s[64];
    copy16(&s[threadIdx.x], in + 4 * threadIdx.x);
    wait_copies();
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x].y;
}
//@ copy_nothing_from_beyond_ok block=32 args=in:64,out:32 fault=none
extern "C" __global__ void copy_nothing_from_beyond_ok(const float* in, float* out) {
    __shared__ float4 s[32];
    // With no bytes to read the source may be anywhere, and the destination becomes zero.
    copy16(&s[threadIdx.x], in + 4 * threadIdx.x, threadIdx.x < 16 ? 16 : 0);
    wait_copies();
    out[threadIdx.x] = s[threadIdx.x].w;
}
//@ copy_from_beyond block=32 args=in:64,out:32 fault=out_of_bounds
extern "C" __global__ void copy_from_beyond(const float* in, float* out) {
    __shared__ float4 s[32];
    copy16(&s[threadIdx.x], in + 4 * threadIdx.x);
    wait_copies();
    out[threadIdx.x] = s[threadIdx.x].w;
}
//@ copy_to_odd_place block=4 args=in:64,out:32 fault=misaligned
extern "C" __global__ void copy_to_odd_place(const float* in, float* out) {
    __shared__ float4 s[8];
    copy16((float*)s + 1 + 4 * threadIdx.x, in + 4 * threadIdx.x);
    wait_copies();
    out[threadIdx.x] = s[threadIdx.x].y;
}
//@ counter_read_atomically_ok grid=4 block=1 args=out:1,seen:4 fault=none
extern "C" __global__ void counter_read_atomically_ok(unsigned* out, unsigned* seen) {
    atomicAdd(out, 1u);
    seen[blockIdx.x] = atomicAdd(out, 0u);
}
//@ block_scope_inside_ok grid=4 block=32 args=out:4 fault=none
extern "C" __global__ void block_scope_inside_ok(unsigned* out) {
    atomicAdd_block(out + blockIdx.x, 1u);
}
//@ release_for_its_block_only grid=2 block=1 args=out:2,flag:1 fault=race
extern "C" __global__ void release_for_its_block_only(unsigned* out, unsigned* flag) {
    if (blockIdx.x == 0) {
        out[0] = 7;
        asm volatile("st.release.cta.global.u32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
        unsigned seen = 0;
        while (!seen) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        out[1] = out[0];
    }
}
//@ release_for_the_device_ok grid=2 block=1 args=out:2,flag:1 fault=none
extern "C" __global__ void release_for_the_device_ok(unsigned* out, unsigned* flag) {
    if (blockIdx.x == 0) {
        out[0] = 7;
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
        unsigned seen = 0;
        while (!seen) asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        out[1] = out[0];
    }
}
//@ named_ring_not_returned block=64 args=out:128 fault=race|barrier_divergence
extern "C" __global__ void named_ring_not_returned(unsigned* out) {
    __shared__ unsigned s[32];
    unsigned lane = threadIdx.x % 32;
    for (unsigned i = 0; i < 4; ++i) {
        if (threadIdx.x < 32) {
            s[lane] = i + lane; // nobody says that the last value was read
            named_arrive(1, 64);
        } else {
            named_sync(1, 64);
            out[32 * i + lane] = s[31 - lane];
        }
    }
}
//@ named_ring_returned_ok block=64 args=out:128 fault=none
extern "C" __global__ void named_ring_returned_ok(unsigned* out) {
    __shared__ unsigned s[32];
    unsigned lane = threadIdx.x % 32;
    for (unsigned i = 0; i < 4; ++i) {
        if (threadIdx.x < 32) {
            if (i > 0) named_sync(2, 64);
            s[lane] = i + lane;
            named_arrive(1, 64);
        } else {
            named_sync(1, 64);
            out[32 * i + lane] = s[31 - lane];
            if (i < 3) named_arrive(2, 64);
        }
    }
}
//@ named_zero_is_syncthreads block=128 args=out:128 fault=barrier_divergence
extern "C" __global__ void named_zero_is_syncthreads(unsigned* out) {
    if (threadIdx.x < 64) named_sync(0, 64);
    else __syncthreads();
    out[threadIdx.x] = 1;
}
//@ half_mask_reads_half_ok block=32 args=out:32 fault=none
extern "C" __global__ void half_mask_reads_half_ok(unsigned* out) {
    __shared__ unsigned s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp(threadIdx.x < 16 ? 0xffffu : 0xffff0000u);
    out[threadIdx.x] = s[threadIdx.x ^ 15];
}
//@ warp_sums_not_synced block=128 args=out:128 fault=race
extern "C" __global__ void warp_sums_not_synced(unsigned* out) {
    __shared__ unsigned sums[4];
    unsigned sum = __reduce_add_sync(~0u, threadIdx.x);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
    out[threadIdx.x] = sums[0] + sums[1] + sums[2] + sums[3]; // <- here
}
//@ sync_after_others_left_ok block=32 args=out:32 fault=none
extern "C" __global__ void sync_after_others_left_ok(unsigned* out) {
    __shared__ unsigned s[32];
    if (threadIdx.x >= 20) return;
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    out[threadIdx.x] = s[19 - threadIdx.x] + __popc(__ballot_sync(~0u, threadIdx.x & 1));
}
//@ two_halves_reduce_ok block=32 args=out:32 fault=none
extern "C" __global__ void two_halves_reduce_ok(unsigned* out) {
    unsigned sum;
    if (threadIdx.x < 16) sum = __reduce_add_sync(0xffffu, threadIdx.x);
    else sum = __reduce_max_sync(0xffff0000u, threadIdx.x);
    out[threadIdx.x] = sum;
}
//@ barrier_made_invalid block=32 args=out:32 fault=barrier_phase
extern "C" __global__ void barrier_made_invalid(unsigned* out) {
    __shared__ unsigned long long b;
    if (threadIdx.x == 0) {
        init(&b, 1);
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at(&b)) : "memory");
        arrive(&b); // <- here
    }
    out[threadIdx.x] = 1;
}
//@ barrier_made_anew_ok block=32 args=out:32 fault=none
extern "C" __global__ void barrier_made_anew_ok(unsigned* out) {
    __shared__ unsigned long long b;
    if (threadIdx.x == 0) {
        init(&b, 2);
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at(&b)) : "memory");
        init(&b, 1);
        arrive(&b);
        wait(&b, 0);
    }
    out[threadIdx.x] = 1;
}
//@ barrier_overwritten block=32 args=out:32 fault=barrier_phase
extern "C" __global__ void barrier_overwritten(unsigned* out) {
    __shared__ unsigned long long b;
    if (threadIdx.x == 0) {
        init(&b, 1);
        *(volatile unsigned long long*)&b = 0;
        arrive(&b); // <- here
    }
    out[threadIdx.x] = 1;
}
//@ barrier_at_odd_place block=1 args=out:1 fault=misaligned
extern "C" __global__ void barrier_at_odd_place(unsigned* out) {
    __shared__ unsigned long long b[2];
    init((char*)b + 4, 1); // <- here
    out[0] = 1;
}
//@ barriers_crossed block=64 args=out:64 fault=deadlock says=mbarrier
extern "C" __global__ void barriers_crossed(unsigned* out) {
    __shared__ unsigned long long b[2];
    if (threadIdx.x == 0) init(&b[0], 1), init(&b[1], 1);
    __syncthreads();
    unsigned warp = threadIdx.x / 32;
    wait(&b[warp], 0);
    if (threadIdx.x % 32 == 0) arrive(&b[1 - warp]);
    out[threadIdx.x] = 1;
}
//@ barriers_in_turn_ok block=64 args=out:64 fault=none
extern "C" __global__ void barriers_in_turn_ok(unsigned* out) {
    __shared__ unsigned long long b[2];
    if (threadIdx.x == 0) init(&b[0], 1), init(&b[1], 1);
    __syncthreads();
    unsigned warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) arrive(&b[1 - warp]);
    wait(&b[warp], 0);
    out[threadIdx.x] = 1;
}
struct Fields {
    unsigned low : 5, middle : 11, high : 16;
};
//@ bit_fields_ok block=32 args=out:32 fault=none
extern "C" __global__ void bit_fields_ok(unsigned* out) {
    __shared__ Fields s[32];
    volatile Fields* mine = &s[threadIdx.x];
    mine->low = threadIdx.x;
    mine->middle = 3 * threadIdx.x;
    mine->high = 1;
    out[threadIdx.x] = mine->low + mine->middle;
}
struct Padded {
    char c;
    int i;
};
//@ padding_copied_ok block=32 args=raw:64,out:64 fault=none
extern "C" __global__ void padding_copied_ok(Padded* raw, Padded* out) {
    raw[threadIdx.x].c = 'x';
    raw[threadIdx.x].i = 5;
    *(long long*)&out[threadIdx.x] = *(volatile long long*)&raw[threadIdx.x]; // as a copy of the whole struct may be
}
//@ vector_last_part block=32 args=raw:128,out:32 fault=uninitialised
extern "C" __global__ void vector_last_part(float* raw, float* out) {
    raw[4 * threadIdx.x] = 1;
    raw[4 * threadIdx.x + 1] = 2;
    raw[4 * threadIdx.x + 2] = 3;
    float4 v = __ldcg((float4*)raw + threadIdx.x);
    out[threadIdx.x] = v.x + v.w;
}
//@ vector_first_parts_ok block=32 args=raw:128,out:32 fault=none
extern "C" __global__ void vector_first_parts_ok(float* raw, float* out) {
    raw[4 * threadIdx.x] = 1;
    raw[4 * threadIdx.x + 1] = 2;
    raw[4 * threadIdx.x + 2] = 3;
    float4 v = __ldcg((float4*)raw + threadIdx.x);
    out[threadIdx.x] = v.x + v.y + v.z;
}
//@ undefined_vote block=32 args=raw:32,out:32 fault=uninitialised
extern "C" __global__ void undefined_vote(unsigned* raw, unsigned* out) {
    out[threadIdx.x] = __ballot_sync(~0u, raw[threadIdx.x] > 3);
}
//@ undefined_histogram block=64 args=in:64,out:16 fault=uninitialised
extern "C" __global__ void undefined_histogram(const float* in, unsigned* out) {
    __shared__ unsigned bins[16];
    atomicAdd(&bins[(int)in[threadIdx.x] % 16], 1u);
    __syncthreads();
    if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];
}
//@ undefined_printed block=1 args=raw:1 fault=uninitialised
extern "C" __global__ void undefined_printed(int* raw) {
    printf("%d\n", raw[0]);
}
//@ undefined_matrix block=32 args=raw:256,out:32 fault=uninitialised
extern "C" __global__ void undefined_matrix(unsigned* raw, unsigned* out) {
    __shared__ __align__(16) unsigned s[128];
    if (threadIdx.x < 24) s[4 * threadIdx.x] = s[4 * threadIdx.x + 1] = s[4 * threadIdx.x + 2] = s[4 * threadIdx.x + 3] = 1;
    __syncthreads();
    unsigned a, b, c, d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at(&s[4 * threadIdx.x])));
    out[threadIdx.x] = a + b + c + d;
}
//@ defined_matrices_ok block=32 args=out:32 fault=none
extern "C" __global__ void defined_matrices_ok(unsigned* out) {
    __shared__ __align__(16) unsigned s[128];
    if (threadIdx.x < 24) s[4 * threadIdx.x] = s[4 * threadIdx.x + 1] = s[4 * threadIdx.x + 2] = s[4 * threadIdx.x + 3] = 1;
    __syncthreads();
    unsigned a, b, c, d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "r"(at(&s[4 * threadIdx.x])));
    if (a == 7) out[0] = d;
    out[threadIdx.x] = a + b + c;
}
//@ matrix_row_at_odd_place block=32 args=out:32 fault=misaligned
extern "C" __global__ void matrix_row_at_odd_place(unsigned* out) {
    __shared__ __align__(16) unsigned s[160];
    for (int i = threadIdx.x; i < 160; i += 32) s[i] = i;
    __syncthreads();
    unsigned a;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(a) : "r"(at(&s[5 * threadIdx.x])));
    out[threadIdx.x] = a;
}
__device__ __noinline__ void fill(int* a, int n) {
    for (int i = 0; i < n; ++i) a[i] = i;
}
//@ array_of_the_caller block=4 args=out:16,n=40 fault=out_of_bounds says=valid elements are 0 to 7
extern "C" __global__ void array_of_the_caller(int* out, int n) {
    int a[8];
    fill(a, n);
    out[threadIdx.x] = a[n & 7];
}
//@ array_of_the_caller_ok block=4 args=out:16,n=8 fault=none
extern "C" __global__ void array_of_the_caller_ok(int* out, int n) {
    int a[8];
    fill(a, n);
    out[threadIdx.x] = a[n & 7];
}
//@ array_of_another_thread block=32 args=out:32,n=3 fault=uninitialised|out_of_bounds|use_after_free
extern "C" __global__ void array_of_another_thread(int* out, int n) {
    __shared__ int* pointer;
    int a[4];
    if (threadIdx.x == 0) {
        a[n] = 5;
        pointer = a;
    }
    __syncthreads();
    out[threadIdx.x] = pointer[n] + 1; // each thread finds its own stack there
}
//@ null_pointer block=32 args=n=0,n=0 fault=out_of_bounds
extern "C" __global__ void null_pointer(int* a) {
    a[threadIdx.x] = 1; // <- here
}
//@ before_the_first block=32 args=out:32 fault=out_of_bounds
extern "C" __global__ void before_the_first(int* out) {
    out[(int)threadIdx.x - 1] = 1; // <- here
}
__device__ unsigned total;
//@ variable_of_the_module grid=2 block=32 args=out:1 fault=race says=total
extern "C" __global__ void variable_of_the_module(unsigned* out) {
    total += 1; // <- here
    out[0] = 1;
}
//@ cluster_too_large grid=32 cluster=32 block=32 args=out:1 fault=bad_launch says=cluster
extern "C" __global__ void cluster_too_large(unsigned* out) {
    out[0] = 1;
}
//@ cluster_does_not_divide grid=3 cluster=2 block=32 args=out:1 fault=bad_launch says=cluster
extern "C" __global__ void cluster_does_not_divide(unsigned* out) {
    out[0] = 1;
}
//@ one_block_leaves_the_grid_barrier grid=4 block=32 args=out:1,n=3 fault=deadlock says=line
extern "C" __global__ void one_block_leaves_the_grid_barrier(unsigned* count, unsigned n) {
    if (blockIdx.x == n) return;
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(count, 1u);
        while (atomicAdd(count, 0u) < gridDim.x) {
        }
    }
    __syncthreads();
}
//@ never_ends block=32 args=out:1,n=1 fault=step_budget says=limit
extern "C" __global__ void never_ends(unsigned* out, unsigned n) {
    unsigned x = threadIdx.x;
    while (n) {
        x = x * 1664525u + 1013904223u;
        asm volatile("" : "+r"(x), "+r"(n));
    }
    out[0] = x;
}
//@ lock_held_while_others_wait_at_barrier block=64 args=lock:1,out:1 fault=deadlock|barrier_divergence
extern "C" __global__ void lock_held_while_others_wait_at_barrier(unsigned* lock, unsigned* out) {
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(lock, 0u, 1u)) {
        }
        __threadfence();
    }
    __syncthreads(); // the holder waits here for whoever spins on its lock
    if (threadIdx.x % 32 == 0) {
        out[0] += 1;
        __threadfence();
        atomicExch(lock, 0u);
    }
}
//@ set_by_a_neighbour_lane_ok block=32 args=out:32 fault=none note=waited
extern "C" __global__ void set_by_a_neighbour_lane_ok(unsigned* out) {
    __shared__ unsigned turn;
    if (threadIdx.x == 0) turn = 0;
    __syncwarp();
    while (atomicAdd(&turn, 0u) != threadIdx.x) {
    }
    out[threadIdx.x] = threadIdx.x;
    atomicAdd(&turn, 1u);
}
//@ match_in_branch block=32 args=out:32 fault=mask_misuse
extern "C" __global__ void match_in_branch(unsigned* out) {
    if (threadIdx.x & 1) out[threadIdx.x] = __match_any_sync(~0u, threadIdx.x / 4); // <- here
    else out[threadIdx.x] = 0;
    __syncwarp();
}
