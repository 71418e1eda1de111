// Mistakes in unusual guises: odd widths, engines that write for a thread, values defined in part, memory and barriers
// used once too often; among them what only looks like a mistake.

__device__ __forceinline__ unsigned at(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ __forceinline__ void copy16(void* to, const void* from) { asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(to)), "l"(from) : "memory"); }
__device__ __forceinline__ void copy4(void* to, const void* from) { asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at(to)), "l"(from) : "memory"); }
__device__ __forceinline__ void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N> __device__ __forceinline__ void wait_group() { asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory"); }
__device__ __forceinline__ void init(void* b, unsigned n) { asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void arrive(void* b) { asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory"); }
__device__ __forceinline__ void expect(void* b, unsigned n) { asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(n) : "memory"); }
__device__ __forceinline__ void wait(void* b, unsigned parity) {
    asm volatile("{.reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra done; bra again; done: }" ::"r"(at(b)), "r"(parity) : "memory");
}
__device__ __forceinline__ void bulk(void* to, const void* from, unsigned n, void* b) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(to)), "l"(from), "r"(n), "r"(at(b)) : "memory");
}
__device__ __forceinline__ void bulk_out(void* to, const void* from, unsigned n) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2; cp.async.bulk.commit_group;" ::"l"(to), "r"(at(from)), "r"(n) : "memory");
}
__device__ __forceinline__ void bulk_wait() { asm volatile("cp.async.bulk.wait_group 0;" ::: "memory"); }
__device__ __forceinline__ void proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
struct __align__(64) Map { char bytes[128]; };
#define T threadIdx.x
#define K extern "C" __global__ void

// --- Races of unusual widths and kinds.

//@ race_byte_beside_word block=64 args=out:64 fault=race says=s
K race_byte_beside_word(int* out) {
    __shared__ int s[64];
    s[T] = T; // <- other
    reinterpret_cast<char*>(s)[T + 130] = 1; // <- here
    __syncthreads();
    out[T] = s[T];
}
//@ race_double_over_words block=64 args=out:64 fault=race
K race_double_over_words(double* out) {
    __shared__ double s[32];
    float* f = reinterpret_cast<float*>(s);
    f[T] = T;
    if (T == 40) s[3] = 1.0; // <- here
    __syncthreads();
    if (T < 32) out[T] = s[T];
}
//@ race_atomic_and_plain_word block=64 args=out:1 fault=race says=atomically
K race_atomic_and_plain_word(int* out) {
    __shared__ int s;
    if (T == 0) s = 0;
    __syncthreads();
    if (T < 32) atomicAdd(&s, 1);
    else if (T == 40) s = 5;
    __syncthreads();
    if (T == 0) out[0] = s;
}
//@ race_atomic_halves block=2 args=out:4 fault=race
K race_atomic_halves(unsigned* out) {
    if (T == 0) atomicAdd(reinterpret_cast<unsigned long long*>(out), 1ull); // <- here
    else out[1] = 7; // <- other
}
//@ race_copy_beside_store block=64 args=in:256,out:64 fault=race|missing_async_wait
K race_copy_beside_store(const float* in, float* out) {
    __shared__ __align__(16) float s[256];
    copy16(s + 4 * T, in + 4 * T);
    if (T == 5) s[4 * 33 + 2] = 0;
    commit(); wait_group<0>();
    __syncthreads();
    out[T] = s[4 * T];
}
//@ race_matrix_rows block=64 args=out:64 fault=race
K race_matrix_rows(unsigned* out) {
    __shared__ __align__(16) unsigned s[64];
    s[T] = T; // <- other
    if (T >= 32) {
        unsigned r, a = at(s + (T % 8) * 4);
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(a) : "memory"); // <- here
        out[T] = r;
    }
}
//@ race_matrix_stored block=64 args=out:64 fault=race
K race_matrix_stored(unsigned* out) {
    __shared__ __align__(16) unsigned s[32];
    if (T < 32) asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(at(s + (T % 8) * 4)), "r"(T) : "memory");
    else out[T] = s[T - 32];
}
//@ race_peer_vector grid=2 cluster=2 block=32 args=out:64 fault=race
K race_peer_vector(float* out) {
    __shared__ __align__(16) float s[32];
    unsigned rank, remote;
    s[T] = 0;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(at(s)), "r"(rank ^ 1));
    if (T == 0) asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %1, %1, %1};" ::"r"(remote + 16), "f"(1.f) : "memory");
    out[blockIdx.x * 32 + T] = s[T];
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
//@ race_global_vectors grid=2 block=32 args=out:132 fault=race
K race_global_vectors(float* out) {
    float2* p = reinterpret_cast<float2*>(out + blockIdx.x * 62);
    p[T] = make_float2(T, blockIdx.x);
}
//@ halves_of_a_word_ok grid=2 block=1 args=out:1 fault=none
K halves_of_a_word_ok(unsigned short* out) { out[blockIdx.x] = 7; }
//@ race_halves_by_or grid=2 block=1 args=out:1 fault=race
K race_halves_by_or(unsigned* out) { out[0] |= blockIdx.x ? 0xffff0000u : 0xffffu; }
//@ race_exchange_without_order grid=2 block=1 args=out:2,flag:1 fault=race
K race_exchange_without_order(int* out, int* flag) {
    if (blockIdx.x == 0) { out[0] = 5; atomicExch(flag, 1); } // <- other
    else { while (atomicAdd(flag, 0) == 0) {} out[1] = out[0]; }
}
//@ race_bulk_reduce_beside_store grid=2 block=32 args=out:32 fault=race|missing_async_wait
K race_bulk_reduce_beside_store(int* out) {
    __shared__ __align__(16) int s[32];
    s[T] = T;
    proxy();
    __syncwarp();
    if (blockIdx.x == 0) {
        if (T == 0) { asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 128; cp.async.bulk.commit_group;" ::"l"(out), "r"(at(s)) : "memory"); bulk_wait(); }
    } else out[T] = 3;
}
//@ bulk_reduces_together_ok grid=4 block=32 args=out:32 fault=none
K bulk_reduces_together_ok(int* out) {
    __shared__ __align__(16) int s[32];
    s[T] = T;
    proxy();
    __syncwarp();
    if (T == 0) { asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s32 [%0], [%1], 128; cp.async.bulk.commit_group;" ::"l"(out), "r"(at(s)) : "memory"); bulk_wait(); }
}
//@ race_matrix_of_wmma block=64 args=out:256 fault=race
K race_matrix_of_wmma(float* out) {
    asm volatile("{.reg .f32 f<8>; mov.f32 f0, 0f3f800000; mov.f32 f1, f0; mov.f32 f2, f0; mov.f32 f3, f0; mov.f32 f4, f0; mov.f32 f5, f0; mov.f32 f6, f0; mov.f32 f7, f0;" // <- here
                 "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%0], {f0,f1,f2,f3,f4,f5,f6,f7}, 16;}" ::"l"(out) : "memory");
    if (T >= 32) out[T] = 2;
}

// --- Values that were never set.

//@ undefined_in_one_branch block=32 args=in:32,out:32 fault=uninitialised says=never given
K undefined_in_one_branch(const float* in, float* out) {
    asm volatile("{.reg .f32 x; .reg .pred p; setp.gt.f32 p, %1, 0f41200000; @p mov.f32 x, 0f40000000; add.f32 x, x, x; st.global.f32 [%0], x;}" ::"l"(out + T), "f"(in[T]) : "memory"); // <- here
}
//@ undefined_end_of_local_array block=32 args=in:32,out:32 fault=uninitialised says=never
K undefined_end_of_local_array(const float* in, float* out) {
    float v[12];
    int n = (int)in[T] % 11;
    for (int i = 0; i < n; ++i) v[i] = in[i];
    float sum = 0;
    for (int i = 0; i <= n; ++i) sum += v[i];
    out[T] = sum;
}
//@ undefined_padding_of_tile block=32 args=out:32 fault=uninitialised says=[32]
K undefined_padding_of_tile(float* out) {
    __shared__ float tile[8][33];
    for (int r = 0; r < 8; ++r) tile[r][T] = r;
    __syncwarp();
    float sum = 0;
    for (int i = 0; i < 8; ++i) sum += (&tile[0][0])[T + 32 * i]; // <- here
    out[T] = sum;
}
//@ undefined_from_malloc block=1 args=out:4 fault=uninitialised
K undefined_from_malloc(int* out) {
    int* p = (int*)malloc(16);
    p[0] = 1;
    out[0] = p[0] + p[3]; // <- here
    free(p);
}
//@ undefined_through_pair block=32 args=raw:64,out:32 fault=uninitialised says=raw
K undefined_through_pair(const uint2* raw, unsigned* out) {
    uint2 v = raw[T]; // <- here
    out[T] = __funnelshift_l(v.x, v.y, 7) & 0xff;
}
//@ overruled_condition_ok block=32 args=raw:32,out:32,n=0 fault=none
K overruled_condition_ok(const int* raw, int* out, int n) {
    int key = raw[T];
    asm volatile("{.reg .pred p, q; setp.lt.s32 p, %1, 5; setp.gt.s32 q, %2, 3; and.pred p, p, q; selp.b32 %1, %1, 7, p; st.global.u32 [%0], %1; @p st.global.u32 [%0], 9;}" ::"l"(out + T), "r"(key), "r"(n) : "memory");
}
//@ condition_not_overruled block=32 args=raw:32,out:32,n=8 fault=uninitialised says=decides
K condition_not_overruled(const int* raw, int* out, int n) {
    int key = raw[T]; // <- here
    asm volatile("{.reg .pred p, q; setp.lt.s32 p, %1, 5; setp.gt.s32 q, %2, 3; and.pred p, p, q; @p st.global.u32 [%0], 9;}" ::"l"(out + T), "r"(key), "r"(n) : "memory");
}
//@ half_pair_ok block=32 args=in:32,out:32 fault=none
K half_pair_ok(const unsigned* in, unsigned* out) {
    asm volatile("{.reg .b64 d; .reg .b32 x, y; mov.b64 d, {%1, x}; mov.b64 {y, _}, d; redux.sync.min.u32 y, y, -1; st.global.u32 [%0], y;}" ::"l"(out + T), "r"(in[T]) : "memory");
}
//@ other_half_of_pair block=32 args=in:32,out:32 fault=uninitialised
K other_half_of_pair(const unsigned* in, unsigned* out) {
    asm volatile("{.reg .b64 d; .reg .b32 x, y; mov.b64 d, {%1, x}; mov.b64 {_, y}, d; redux.sync.min.u32 y, y, -1; st.global.u32 [%0], y;}" ::"l"(out + T), "r"(in[T]) : "memory"); // <- here
}
struct Padded { double a; int b; char c; };
//@ padded_structure_ok block=32 args=raw:128,out:192 fault=none
K padded_structure_ok(Padded* raw, double* out) {
    __shared__ Padded s[32];
    s[T].a = T; s[T].b = T * 2; s[T].c = T * 3;
    __syncwarp();
    Padded p;
    unsigned* to = reinterpret_cast<unsigned*>(&p);
    for (int i = 0; i < 4; ++i) to[i] = __shfl_down_sync(~0u, reinterpret_cast<unsigned*>(&s[T])[i], 1);
    raw[T] = p;
    out[3 * T] = p.a; out[3 * T + 1] = p.b; out[3 * T + 2] = p.c;
}

// --- Addresses.

//@ last_vector_half_outside block=32 args=in:126,out:128 fault=out_of_bounds says=past its end
K last_vector_half_outside(const float4* in, float4* out) { out[T] = in[T]; } // <- here
//@ negative_index_of_shared block=32 args=out:32,n=1 fault=out_of_bounds
K negative_index_of_shared(int* out, int n) {
    __shared__ int a[32];
    a[T] = T;
    __syncwarp();
    out[T] = a[(int)T - n]; // <- here
}
//@ unsigned_wrap_around block=32 args=in:32,out:32,n=5 fault=out_of_bounds
K unsigned_wrap_around(const float* in, float* out, unsigned n) { out[T] = in[T - n]; } // <- here
//@ between_two_buffers block=32 args=in:33,out:32,n=40 fault=out_of_bounds says=in
K between_two_buffers(const float* in, float* out, int n) { out[T] = in[n]; } // <- here
//@ neighbour_shared_array block=32 args=out:32 fault=out_of_bounds|race|uninitialised
K neighbour_shared_array(int* out) {
    __shared__ int a[20], b[20];
    if (T < 20) { a[T] = T; b[T] = -1; }
    __syncwarp();
    out[T] = a[T] + b[T % 20];
}
__constant__ float weights[10];
//@ constant_vector_outside block=4 args=out:16 fault=out_of_bounds says=weights
K constant_vector_outside(float4* out) { out[T] = *reinterpret_cast<const float4*>(weights + 4 * T); } // <- here
//@ parameter_outside block=32 args=n=1,n=2,n=3,n=4,out:32 fault=out_of_bounds
struct Four { int v[4]; };
K parameter_outside(Four four, int* out) { out[T] = four.v[T]; } // <- here
//@ copy_wide_at_odd_place block=8 args=in:64,out:8 fault=misaligned says=16
K copy_wide_at_odd_place(const float* in, float* out) {
    __shared__ __align__(16) float s[32];
    copy16(s + 4 * T, in + 4 * T + 1); // <- here
    commit(); wait_group<0>();
    out[T] = s[4 * T];
}
//@ matrix_rows_crossed block=32 args=out:32 fault=misaligned
K matrix_rows_crossed(unsigned* out) {
    __shared__ __align__(16) unsigned short s[8][20];
    for (int i = T; i < 160; i += 32) (&s[0][0])[i] = i;
    __syncwarp();
    unsigned r;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(at(&s[T % 8][0])) : "memory"); // <- here
    out[T] = r;
}
//@ matrix_row_outside block=32 args=out:32 fault=out_of_bounds
K matrix_row_outside(unsigned* out) {
    __shared__ __align__(16) unsigned s[7 * 4];
    if (T < 28) s[T] = T;
    __syncwarp();
    unsigned r;
    asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(r) : "r"(at(s + (T % 8) * 4)) : "memory"); // <- here
    out[T] = r;
}
//@ tensor_to_odd_place block=32 args=map:64:32:32:16,out:32 fault=misaligned says=128
K tensor_to_odd_place(const __grid_constant__ Map map, float* out) {
    __shared__ __align__(128) float s[32 * 16 + 16];
    __shared__ unsigned long long b;
    if (T == 0) {
        init(&b, 1); proxy();
        expect(&b, 2048);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {0, 0}], [%2];" ::"r"(at(s + 4)), "l"(&map), "r"(at(&b)) : "memory"); // <- here
    }
    __syncwarp();
    wait(&b, 0);
    out[T] = s[T + 4];
}
//@ tensor_map_copied block=32 args=map:64:32:32:16,out:32 fault=misaligned|out_of_bounds|trap|missing_async_wait|bad_launch
K tensor_map_copied(Map map, float* out) {
    __shared__ __align__(128) float s[32 * 16];
    __shared__ unsigned long long b;
    Map mine = map;
    mine.bytes[T] ^= 1;
    if (T == 0) {
        init(&b, 1); proxy();
        expect(&b, 2048);
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {0, 0}], [%2];" ::"r"(at(s)), "l"(&mine), "r"(at(&b)) : "memory");
    }
    __syncwarp();
    wait(&b, 0);
    out[T] = s[T];
}

// --- Memory that is gone.

//@ freed_twice block=1 args=out:1 fault=use_after_free|out_of_bounds|bad_free
K freed_twice(int* out) {
    int* p = (int*)malloc(16);
    p[0] = 2;
    out[0] = p[0];
    free(p);
    free(p); // <- here
}
//@ freed_by_another block=32 args=out:32 fault=use_after_free
K freed_by_another(int* out) {
    __shared__ int* p;
    if (T == 0) { p = (int*)malloc(128); for (int i = 0; i < 32; ++i) p[i] = i; }
    __syncwarp();
    if (T == 31) free(p);
    __syncwarp();
    out[T] = p[T]; // <- here
}
//@ freed_read_by_copy block=32 args=gone:128,out:32 fault=use_after_free
K freed_read_by_copy(const float* gone, float* out) {
    __shared__ __align__(16) float s[128];
    copy16(s + 4 * T, gone + 4 * T); // <- here
    commit(); wait_group<0>();
    out[T] = s[4 * T];
}

// --- Barriers.

//@ barrier_after_return block=64 args=out:64,n=40 fault=barrier_divergence
K barrier_after_return(int* out, int n) {
    __shared__ int s[64];
    s[T] = T;
    if (T >= n) return;
    __syncthreads(); // <- here
    out[T] = s[63 - T];
}
//@ barriers_of_two_numbers block=64 args=out:64 fault=barrier_divergence|deadlock
K barriers_of_two_numbers(int* out) {
    if (T < 32) asm volatile("bar.sync 1;" ::: "memory");
    else asm volatile("bar.sync 2;" ::: "memory");
    out[T] = T;
}
//@ barrier_red_in_half block=64 args=out:64 fault=barrier_divergence
K barrier_red_in_half(int* out) {
    int r = 0;
    if (T % 2) r = __syncthreads_count(T > 5); // <- here
    out[T] = r;
}
//@ barrier_in_switch block=96 args=out:96 fault=barrier_divergence
K barrier_in_switch(int* out) {
    switch (T / 32) {
        case 0: __syncthreads(); break;
        case 1: out[T] = 1; __syncthreads(); break;
        default: out[T] = 2;
    }
    __syncthreads();
    out[T] += 1;
}

// --- Masks.

//@ shuffle_from_lane_elsewhere block=32 args=out:32 fault=mask_misuse
K shuffle_from_lane_elsewhere(int* out) {
    int v = T;
    if (T < 16) v = __shfl_sync(0xffff, v, 20); // <- here
    out[T] = v;
}
//@ shuffle_without_caller block=32 args=out:32 fault=mask_misuse says=does not name
K shuffle_without_caller(int* out) { out[T] = __shfl_xor_sync(0x7fffffff, T, 1); } // <- here
//@ active_mask_ok block=32 args=in:32,out:32 fault=none
K active_mask_ok(const float* in, float* out) {
    float v = in[T];
    if (v < 10) { unsigned m = __activemask(); v = __shfl_sync(m, v, __ffs(m) - 1); }
    out[T] = v;
}
//@ ballot_masks_differ block=32 args=out:32 fault=mask_misuse
K ballot_masks_differ(unsigned* out) { out[T] = __ballot_sync(T < 16 ? 0xffffffff : 0xffff0000, T & 1); }
//@ reduce_in_branch block=32 args=out:32 fault=mask_misuse
K reduce_in_branch(unsigned* out) {
    unsigned v = T;
    if (T & 4) v = __reduce_add_sync(~0u, v); // <- here
    out[T] = v;
}
//@ vote_after_return_ok block=32 args=out:32 fault=none
K vote_after_return_ok(int* out) {
    if (T == 7) return;
    out[T] = __all_sync(~0u, T < 99);
}

// --- Asynchronous copies.

//@ wait_for_one_too_many block=32 args=in:256,out:32 fault=missing_async_wait
K wait_for_one_too_many(const float* in, float* out) {
    __shared__ __align__(16) float s[2][128];
    copy16(&s[0][4 * T], in + 4 * T); commit();
    copy16(&s[1][4 * T], in + 128 + 4 * T); commit();
    wait_group<1>();
    out[T] = s[1][4 * T]; // <- here
}
//@ commit_in_one_branch block=32 args=in:128,out:32 fault=missing_async_wait
K commit_in_one_branch(const float* in, float* out) {
    __shared__ __align__(16) float s[128];
    copy16(s + 4 * T, in + 4 * T);
    if (T < 16) commit();
    wait_group<0>();
    out[T] = s[4 * T]; // <- here
}
//@ copy_never_used_ok block=32 args=in:32,out:32 fault=none
K copy_never_used_ok(const float* in, float* out) {
    __shared__ float s[32];
    copy4(s + T, in + T);
    out[T] = in[T];
}
//@ atomic_under_copy block=32 args=in:32,out:32 fault=missing_async_wait|race
K atomic_under_copy(const int* in, int* out) {
    __shared__ int s[32];
    copy4(s + T, in + T);
    atomicAdd(&s[T], 1);
    commit(); wait_group<0>();
    out[T] = s[T];
}
//@ expect_less_than_sent block=32 args=in:64,out:32 fault=barrier_phase|missing_async_wait|deadlock
K expect_less_than_sent(const float* in, float* out) {
    __shared__ __align__(16) float s[64];
    __shared__ unsigned long long b;
    if (T == 0) { init(&b, 1); fence_init(); expect(&b, 128); bulk(s, in, 256, &b); }
    __syncwarp();
    wait(&b, 0);
    out[T] = s[T + 32];
}
//@ made_anew_in_flight block=32 args=in:64,out:32 fault=barrier_phase|missing_async_wait
K made_anew_in_flight(const float* in, float* out) {
    __shared__ __align__(16) float s[64];
    __shared__ unsigned long long b;
    if (T == 0) { init(&b, 1); fence_init(); expect(&b, 256); bulk(s, in, 256, &b); init(&b, 1); arrive(&b); }
    __syncwarp();
    wait(&b, 0);
    out[T] = s[T];
}
//@ waits_after_invalidation block=32 args=out:32 fault=barrier_phase
K waits_after_invalidation(float* out) {
    __shared__ unsigned long long b;
    if (T == 0) { init(&b, 1); arrive(&b); asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(at(&b)) : "memory"); }
    __syncwarp();
    wait(&b, 0);
    out[T] = 1;
}
//@ tensor_stored_without_fence block=64 args=map:64:32:32:16 fault=missing_async_wait says=fence.proxy.async
K tensor_stored_without_fence(const __grid_constant__ Map map) {
    __shared__ __align__(128) float s[32 * 16];
    for (int i = T; i < 512; i += 64) s[i] = i; // <- other
    __syncthreads();
    if (T == 0) { asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {0, 0}], [%1]; cp.async.bulk.commit_group;" ::"l"(&map), "r"(at(s)) : "memory"); bulk_wait(); } // <- here
}
//@ bulk_out_read_early block=32 args=out:32,copy:32 fault=race|missing_async_wait
K bulk_out_read_early(float* out, float* copy) {
    __shared__ __align__(16) float s[32];
    s[T] = T;
    proxy();
    __syncwarp();
    if (T == 0) bulk_out(out, s, 128);
    __syncwarp();
    copy[T] = out[T]; // <- here
    if (T == 0) bulk_wait();
}
//@ bulk_read_waited_only block=32 args=out:32,copy:32 fault=race|missing_async_wait
K bulk_read_waited_only(float* out, float* copy) {
    __shared__ __align__(16) float s[32];
    s[T] = T;
    proxy();
    __syncwarp();
    if (T == 0) { bulk_out(out, s, 128); asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory"); }
    __syncwarp();
    copy[T] = out[T]; // <- here
    if (T == 0) bulk_wait();
}
//@ odd_bytes_in_bulk block=1 args=in:64,out:1 fault=misaligned|bad_launch|out_of_bounds
K odd_bytes_in_bulk(const float* in, float* out) {
    __shared__ __align__(16) float s[64];
    __shared__ unsigned long long b;
    init(&b, 1); fence_init(); expect(&b, 20); bulk(s, in, 20, &b);
    wait(&b, 0);
    out[0] = s[0];
}

// --- Waiting for ever.

//@ waits_for_bytes_never_sent block=32 args=out:32 fault=deadlock says=mbarrier
K waits_for_bytes_never_sent(float* out) {
    __shared__ unsigned long long b;
    if (T == 0) { init(&b, 1); expect(&b, 64); }
    __syncwarp();
    wait(&b, 0); // <- here
    out[T] = 1;
}
//@ waits_for_its_own_block grid=2 block=32 args=flag:1 fault=deadlock
K waits_for_its_own_block(volatile int* flag) {
    while (*flag != 3) {} // <- here
    if (T == 0) atomicAdd((int*)flag, 1);
}
//@ cluster_barrier_missed grid=2 cluster=2 block=32 args=out:64 fault=deadlock|barrier_divergence|use_after_free
K cluster_barrier_missed(int* out) {
    if (blockIdx.x == 0) asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    else while (true) { if (*(volatile int*)out == 9) break; }
    out[T] = 1;
}
//@ lock_taken_twice block=1 args=lock:1 fault=deadlock
K lock_taken_twice(int* lock) {
    while (atomicCAS(lock, 0, 1)) {}
    while (atomicCAS(lock, 0, 1)) {} // <- here
    atomicExch(lock, 0);
}
// --- Stack.

// Its address is taken: the parameter lies on the stack.
struct Big { int v[64]; };
__device__ __noinline__ int deep(int n, Big b) { b.v[n & 63] += n; return n == 0 ? b.v[5] : deep(n - 1, b) + b.v[n & 63]; }
//@ recursion_with_arrays block=32 args=out:32,n=3000 fault=stack_overflow says=deep
K recursion_with_arrays(int* out, int n) {
    Big b;
    for (int i = 0; i < 64; ++i) b.v[i] = i;
    out[T] = deep(n, b);
}
__device__ __noinline__ int picked(Big b, int n) { b.v[(n + 3) & 63] = 1000; return b.v[n & 63] + b.v[(n + 3) & 63]; }
//@ structure_by_value_ok block=32 args=out:32 fault=none
K structure_by_value_ok(int* out) {
    Big b;
    for (int i = 0; i < 64; ++i) b.v[i] = i + T;
    int sum = picked(b, T);
    if (sum != 1000 + 2 * (int)T || b.v[(T + 3) & 63] == 1000) asm volatile("trap;");
    out[T] = sum;
}
