// Barriers, masks, addresses, uninitialised values and launches that are wrong, and their corrected twins.

//@ barrier_all_reach_ok block=64 args=out:64 fault=none
extern "C" __global__ void barrier_all_reach_ok(unsigned* out) {
    __shared__ unsigned s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < blockDim.x) __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
//@ barrier_in_half_warp block=64 args=out:64 fault=barrier_divergence
extern "C" __global__ void barrier_in_half_warp(unsigned* out) {
    __shared__ unsigned s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x % 32 < 16) __syncthreads(); // <- here
    else out[0] = 1;
    __syncwarp();
    out[threadIdx.x] = s[threadIdx.x];
}
//@ barrier_one_warp_misses block=64 args=out:64 fault=barrier_divergence
extern "C" __global__ void barrier_one_warp_misses(unsigned* out) {
    __shared__ unsigned s[64];
    s[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32) __syncthreads(); // <- here
    out[threadIdx.x] = s[threadIdx.x];
}
//@ barrier_two_branches block=64 args=out:64 fault=barrier_divergence
extern "C" __global__ void barrier_two_branches(unsigned* out) {
    __shared__ unsigned s[64];
    if (threadIdx.x < 32) {
        s[threadIdx.x] = 1;
        __syncthreads(); // <- other
        out[threadIdx.x] = s[threadIdx.x + 32];
    } else {
        s[threadIdx.x] = 2;
        __syncthreads(); // <- here
        out[threadIdx.x] = s[threadIdx.x - 32] + 1;
    }
}
//@ barrier_loop_counts block=64 args=out:64 fault=barrier_divergence
extern "C" __global__ void barrier_loop_counts(unsigned* out) {
    __shared__ unsigned s[64];
    s[threadIdx.x] = 0;
    for (int i = 0; i < 2 + threadIdx.x / 32; ++i) {
        s[threadIdx.x] += 1;
        __syncthreads(); // <- here
    }
    out[threadIdx.x] = s[threadIdx.x];
}
//@ barrier_loop_ok block=64 args=out:64 fault=none
extern "C" __global__ void barrier_loop_ok(unsigned* out) {
    __shared__ unsigned s[64];
    s[threadIdx.x] = 0;
    for (int i = 0; i < 3; ++i) {
        if (i < 2 + threadIdx.x / 32) s[threadIdx.x] += 1;
        __syncthreads();
    }
    out[threadIdx.x] = s[threadIdx.x];
}
//@ barrier_early_return block=96 args=out:96,n=70 fault=barrier_divergence
extern "C" __global__ void barrier_early_return(unsigned* out, int n) {
    __shared__ unsigned s[96];
    if (threadIdx.x >= n) return;
    s[threadIdx.x] = threadIdx.x;
    __syncthreads(); // <- here
    out[threadIdx.x] = s[n - 1 - threadIdx.x];
}
//@ named_wrong_count block=128 args=out:128 fault=barrier_divergence
extern "C" __global__ void named_wrong_count(unsigned* out) {
    asm volatile("bar.sync 1, 96;" ::: "memory"); // <- here
    out[threadIdx.x] = 1;
}
//@ named_counts_differ block=128 args=out:128 fault=barrier_divergence
extern "C" __global__ void named_counts_differ(unsigned* out) {
    if (threadIdx.x < 64) asm volatile("bar.sync 1, 128;" ::: "memory"); // <- other
    else asm volatile("bar.sync 1, 64;" ::: "memory"); // <- here
    out[threadIdx.x] = 1;
}
//@ named_count_ok block=128 args=out:128 fault=none
extern "C" __global__ void named_count_ok(unsigned* out) {
    if (threadIdx.x < 96) asm volatile("bar.sync 1, 96;" ::: "memory");
    out[threadIdx.x] = 1;
}
//@ named_odd_count block=64 args=out:64,n=40 fault=barrier_divergence
extern "C" __global__ void named_odd_count(unsigned* out, int n) {
    asm volatile("bar.sync 1, %0;" ::"r"(n) : "memory"); // <- here
    out[threadIdx.x] = 1;
}
//@ named_id block=64 args=out:64,n=16 fault=barrier_divergence
extern "C" __global__ void named_id(unsigned* out, int n) {
    asm volatile("bar.sync %0, 64;" ::"r"(n) : "memory"); // <- here
    out[threadIdx.x] = 1;
}
//@ named_per_lane block=64 args=out:64 fault=barrier_divergence
extern "C" __global__ void named_per_lane(unsigned* out) {
    asm volatile("bar.sync %0, 64;" ::"r"(1 + threadIdx.x % 2) : "memory"); // <- here
    out[threadIdx.x] = 1;
}
//@ deadlock_two_names block=64 args=out:64 fault=barrier_divergence
extern "C" __global__ void deadlock_two_names(unsigned* out) {
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;" ::: "memory");
    else asm volatile("bar.sync 2, 64;" ::: "memory");
    out[threadIdx.x] = 1;
}
//@ shuffle_in_branch block=32 args=out:32 fault=mask_misuse
extern "C" __global__ void shuffle_in_branch(unsigned* out) {
    unsigned v = threadIdx.x;
    if (threadIdx.x < 16) v = __shfl_down_sync(0xffffffff, v, 8); // <- here
    out[threadIdx.x] = v;
}
//@ shuffle_in_branch_ok block=32 args=out:32 fault=none
extern "C" __global__ void shuffle_in_branch_ok(unsigned* out) {
    unsigned v = threadIdx.x;
    if (threadIdx.x < 16) v = __shfl_down_sync(0xffff, v, 8, 16);
    out[threadIdx.x] = v;
}
//@ shuffle_not_member block=32 args=out:32 fault=mask_misuse
extern "C" __global__ void shuffle_not_member(unsigned* out) {
    out[threadIdx.x] = __shfl_xor_sync(0xffff, threadIdx.x, 1); // <- here
}
//@ shuffle_exited block=32 args=out:32 fault=mask_misuse
extern "C" __global__ void shuffle_exited(unsigned* out) {
    if (threadIdx.x >= 24) return;
    unsigned v = threadIdx.x;
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o); // <- here
    if (threadIdx.x == 0) out[0] = v;
}
//@ shuffle_partial_warp block=48 args=out:48 fault=mask_misuse
extern "C" __global__ void shuffle_partial_warp(unsigned* out) {
    unsigned v = threadIdx.x;
    for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o); // <- here
    out[threadIdx.x] = v;
}
//@ ballot_in_loop_ok block=32 args=out:32 fault=none
extern "C" __global__ void ballot_in_loop_ok(unsigned* out) {
    unsigned mask = 0xffffffff, i = 0;
    for (;; ++i) {
        mask = __ballot_sync(mask, i < threadIdx.x);
        if (i >= threadIdx.x) break;
    }
    out[threadIdx.x] = i;
}
//@ ballot_in_loop block=32 args=out:32 fault=mask_misuse
extern "C" __global__ void ballot_in_loop(unsigned* out) {
    unsigned m = 0;
    for (unsigned i = 0; i < 1 + threadIdx.x % 4; ++i) {
        m += __shfl_sync(0xffffffff, i, (threadIdx.x + 1) % 32); // <- here
        out[threadIdx.x] = m;
    }
}
//@ syncwarp_mask block=32 args=out:32 fault=mask_misuse
extern "C" __global__ void syncwarp_mask(unsigned* out) {
    if (threadIdx.x < 8) __syncwarp(0xf0); // <- here
    out[threadIdx.x] = 1;
}
//@ reduce_zero_mask block=32 args=out:32 fault=mask_misuse
extern "C" __global__ void reduce_zero_mask(unsigned* out) {
    out[threadIdx.x] = __reduce_add_sync(0, threadIdx.x); // <- here
}
//@ shared_negative block=32 args=out:32 fault=out_of_bounds
extern "C" __global__ void shared_negative(unsigned* out) {
    __shared__ unsigned s[32], t[32];
    s[threadIdx.x] = 1;
    t[threadIdx.x] = 2;
    __syncthreads();
    out[threadIdx.x] = t[threadIdx.x] + s[(int)threadIdx.x - 1]; // <- here
}
//@ shared_dynamic_oob block=32 dyn=128 args=out:32 fault=out_of_bounds
extern "C" __global__ void shared_dynamic_oob(unsigned* out) {
    extern __shared__ unsigned d[];
    d[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = d[threadIdx.x + 1]; // <- here
}
//@ shared_no_dynamic block=32 args=out:32 fault=out_of_bounds
extern "C" __global__ void shared_no_dynamic(unsigned* out) {
    extern __shared__ unsigned d[];
    d[threadIdx.x] = 1; // <- here
    __syncthreads();
    out[threadIdx.x] = d[31 - threadIdx.x];
}
//@ global_last_vector block=32 args=out:127 fault=out_of_bounds
extern "C" __global__ void global_last_vector(float4* out) {
    out[threadIdx.x] = make_float4(1, 2, 3, 4); // <- here
}
//@ global_row_overrun block=33 args=out:32 fault=out_of_bounds
extern "C" __global__ void global_row_overrun(unsigned* out) {
    out[threadIdx.x] = 1; // <- here
}
//@ global_atomic_oob block=32 args=out:4 fault=out_of_bounds
extern "C" __global__ void global_atomic_oob(unsigned* out) {
    atomicAdd(&out[threadIdx.x & 4], 1); // <- here
}
//@ misaligned_vector block=32 args=in:132,out:128 fault=misaligned
extern "C" __global__ void misaligned_vector(const float* in, float4* out) {
    out[threadIdx.x] = *(const float4*)(in + 4 * threadIdx.x + 1); // <- here
}
//@ misaligned_shared block=8 args=out:32 fault=misaligned
extern "C" __global__ void misaligned_shared(unsigned* out) {
    __shared__ __align__(16) unsigned char s[64];
    for (int i = threadIdx.x; i < 64; i += 8) s[i] = i;
    __syncthreads();
    out[threadIdx.x] = *(unsigned*)(s + threadIdx.x * 4 + 2); // <- here
}
//@ misaligned_local block=8 args=out:32,n=3 fault=misaligned
extern "C" __global__ void misaligned_local(unsigned* out, int n) {
    __align__(16) unsigned char a[32];
    for (int i = 0; i < 32; ++i) a[i] = i * n;
    out[threadIdx.x] = *(unsigned*)(a + n + threadIdx.x); // <- here
}
//@ misaligned_atomic block=1 args=out:4 fault=misaligned
extern "C" __global__ void misaligned_atomic(unsigned* out) {
    atomicAdd((unsigned long long*)(out + 1), 1ull); // <- here
}
__constant__ unsigned table[8] = {1, 2, 3, 4, 5, 6, 7, 8};
//@ constant_oob block=16 args=out:16 fault=out_of_bounds
extern "C" __global__ void constant_oob(unsigned* out) {
    out[threadIdx.x] = table[threadIdx.x]; // <- here
}
//@ constant_misaligned block=2 args=out:16 fault=misaligned
extern "C" __global__ void constant_misaligned(unsigned* out) {
    out[threadIdx.x] = *(const unsigned*)((const char*)table + 1 + threadIdx.x); // <- here
}
//@ constant_ok block=8 args=out:16 fault=none
extern "C" __global__ void constant_ok(unsigned* out) { out[threadIdx.x] = table[threadIdx.x]; }
//@ local_oob block=4 args=out:16,n=9 fault=out_of_bounds
extern "C" __global__ void local_oob(unsigned* out, int n) {
    unsigned a[8];
    for (int i = 0; i < 8; ++i) a[i] = i + n;
    out[threadIdx.x] = a[n + threadIdx.x]; // <- here
}
//@ local_ok block=4 args=out:16,n=4 fault=none
extern "C" __global__ void local_ok(unsigned* out, int n) {
    unsigned a[8];
    for (int i = 0; i < 8; ++i) a[i] = i + n;
    out[threadIdx.x] = a[n + threadIdx.x];
}
//@ freed block=32 args=gone:32,out:32 fault=use_after_free
extern "C" __global__ void freed(const unsigned* gone, unsigned* out) {
    out[threadIdx.x] = gone[threadIdx.x]; // <- here
}
//@ freed_atomic block=32 args=gone:32 fault=use_after_free
extern "C" __global__ void freed_atomic(unsigned* gone) {
    atomicAdd(gone, 1); // <- here
}
//@ freed_heap block=1 args=out:1 fault=use_after_free
extern "C" __global__ void freed_heap(unsigned* out) {
    volatile unsigned* p = (volatile unsigned*)malloc(64);
    p[0] = 1;
    free((void*)p);
    out[0] = p[0]; // <- here
}
//@ heap_ok block=1 args=out:1 fault=none
extern "C" __global__ void heap_ok(unsigned* out) {
    unsigned* p = (unsigned*)malloc(64);
    p[0] = 1;
    out[0] = p[0];
    free(p);
}
//@ read_only block=1 args=out:1 fault=out_of_bounds
extern "C" __global__ void read_only(unsigned* out) {
    unsigned* p = (unsigned*)table;
    asm volatile("" : "+l"(p));
    *p = out[0]; // <- here
}
//@ uninit_branch block=32 args=out:32,n=3 fault=uninitialised
extern "C" __global__ void uninit_branch(unsigned* out, int n) {
    unsigned v;
    asm volatile("{.reg .pred p; setp.lt.s32 p, %1, 0; @p mov.u32 %0, 5;}" : "=r"(v) : "r"(n));
    out[threadIdx.x] = v + threadIdx.x; // <- here
}
//@ uninit_branch_ok block=32 args=out:32,n=3 fault=none
extern "C" __global__ void uninit_branch_ok(unsigned* out, int n) {
    unsigned v = 1;
    asm volatile("{.reg .pred p; setp.lt.s32 p, %1, 0; @p mov.u32 %0, 5;}" : "+r"(v) : "r"(n));
    out[threadIdx.x] = v + threadIdx.x;
}
//@ uninit_local block=32 args=out:32,n=7 fault=uninitialised
extern "C" __global__ void uninit_local(unsigned* out, int n) {
    unsigned a[8];
    for (int i = 0; i < n; ++i) a[i ^ 1] = i;
    out[threadIdx.x] = a[threadIdx.x % 8] * 3; // <- here
}
//@ uninit_local_ok block=32 args=out:32,n=8 fault=none
extern "C" __global__ void uninit_local_ok(unsigned* out, int n) {
    unsigned a[8];
    for (int i = 0; i < n; ++i) a[i ^ 1] = i;
    out[threadIdx.x] = a[threadIdx.x % 8] * 3;
}
//@ uninit_tile_tail block=32 args=in:64,out:32,n=27 fault=uninitialised
extern "C" __global__ void uninit_tile_tail(const float* in, float* out, int n) {
    __shared__ float s[32];
    if (threadIdx.x < n) s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 32; ++i) sum += s[i]; // <- here
    out[threadIdx.x] = sum;
}
//@ uninit_tile_tail_ok block=32 args=in:64,out:32,n=27 fault=none
extern "C" __global__ void uninit_tile_tail_ok(const float* in, float* out, int n) {
    __shared__ float s[32];
    s[threadIdx.x] = threadIdx.x < n ? in[threadIdx.x] : 0;
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 32; ++i) sum += s[i];
    out[threadIdx.x] = sum;
}
//@ uninit_global_accumulate block=32 args=raw:32 fault=uninitialised
extern "C" __global__ void uninit_global_accumulate(float* raw) {
    raw[threadIdx.x] += 1; // <- here
}
//@ uninit_global_atomic block=32 args=raw:1 fault=uninitialised
extern "C" __global__ void uninit_global_atomic(unsigned* raw) {
    atomicAdd(raw, 1); // <- here
}
//@ uninit_through_shuffle block=32 args=raw:32,out:32 fault=uninitialised
extern "C" __global__ void uninit_through_shuffle(const unsigned* raw, unsigned* out) {
    unsigned v = threadIdx.x == 5 ? raw[0] : 1; // <- here
    v += __shfl_xor_sync(0xffffffff, v, 1);
    out[threadIdx.x] = v;
}
//@ uninit_index block=32 args=raw:32,out:32 fault=uninitialised
extern "C" __global__ void uninit_index(const unsigned* raw, unsigned* out) {
    unsigned i = raw[threadIdx.x];
    if (threadIdx.x == 1) out[i & 31] = 1;
}
//@ uninit_copy_ok block=32 args=raw:32,out:32 fault=none
extern "C" __global__ void uninit_copy_ok(const unsigned* raw, unsigned* out) { out[threadIdx.x] = raw[threadIdx.x]; }

__device__ __noinline__ unsigned deep(volatile unsigned* out, unsigned n) {
    unsigned big[64];
    for (int i = 0; i < 64; ++i) big[i] = n + out[0];
    unsigned r = n == 0 ? 0 : deep(out, n - 1);
    return r + big[n & 63];
}
//@ recursion block=1 args=out:1,n=100000 fault=stack_overflow
extern "C" __global__ void recursion(unsigned* out, unsigned n) { out[0] = deep(out, n); }
//@ recursion_ok block=1 args=out:1,n=5 fault=none
extern "C" __global__ void recursion_ok(unsigned* out, unsigned n) { out[0] = deep(out, n); }

//@ too_many_threads block=1025 args=out:1 fault=bad_launch says=1024
extern "C" __global__ void too_many_threads(unsigned* out) { out[0] = 1; }
//@ too_much_shared block=32 dyn=300000 args=out:1 fault=bad_launch says=300000
extern "C" __global__ void too_much_shared(unsigned* out) { out[0] = 1; }
//@ bounds_exceeded block=128 args=out:1 fault=bad_launch says=64
extern "C" __global__ void __launch_bounds__(64) bounds_exceeded(unsigned* out) { out[0] = 1; }
//@ empty_grid grid=0 block=32 args=out:1 fault=bad_launch says=grid
extern "C" __global__ void empty_grid(unsigned* out) { out[0] = 1; }
//@ argument_missing block=32 args=out:1 fault=bad_launch says=argument
extern "C" __global__ void argument_missing(unsigned* out, int n) { out[0] = n; }

//@ deadlock_flag grid=2 block=32 args=out:2 fault=deadlock says=line
extern "C" __global__ void deadlock_flag(unsigned* out) {
    if (blockIdx.x == 1) while (*(volatile unsigned*)out == 0) {} // <- here
    out[1] = 0;
}
//@ deadlock_lock_order grid=2 block=1 args=out:2,in:2 fault=deadlock says=line
extern "C" __global__ void deadlock_lock_order(unsigned* out, unsigned* in) {
    const unsigned first = blockIdx.x, second = 1 - blockIdx.x;
    while (atomicCAS(&out[first], 0, 1) != 0) {}
    atomicAdd(&in[0], 1);
    while (*(volatile unsigned*)in < 2) {}
    while (atomicCAS(&out[second], 0, 1) != 0) {} // <- here
    atomicExch(&out[second], 0);
    atomicExch(&out[first], 0);
}
//@ deadlock_too_many_blocks grid=600 block=1024 args=out:1 fault=deadlock says=have not started
extern "C" __global__ void deadlock_too_many_blocks(unsigned* out) {
    if (threadIdx.x == 0) {
        atomicAdd(out, 1);
        while (*(volatile unsigned*)out < gridDim.x) {} // <- here
    }
}
//@ assertion block=32 args=out:32,n=20 fault=trap says=threadIdx.x < n
extern "C" __global__ void assertion(unsigned* out, int n) {
    out[threadIdx.x] = 1;
    if (!(threadIdx.x < n)) __assertfail("threadIdx.x < n", "misuse.cu", 1, "assertion", 1); // <- here
}
