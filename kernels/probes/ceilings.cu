#include "lab.cuh"

// What one machine can do at most: bandwidths, arithmetic rates, latencies, the cost of a launch.
//
// Each kernel says above its name what it takes, how it is launched and which figure its time stands for. SMS is the
// number of multiprocessors. Kernels that take `rounds` do the same work that many times: choose it so that a launch
// takes a millisecond or more. Random input matters: an H200 runs matrix products 13% faster on zeros than on normal
// numbers, because it then draws less power. `in` therefore holds normal numbers of the stated type.
// Results that nobody needs are stored under a condition that never holds, so that the compiler keeps the work.

// A value that no sum below ever takes.
#define NEVER 1.25e30f

// --- global memory -------------------------------------------------------------------------------------------------

#define READ_LOADS 4

// Reads `in` `passes` times, four float4 of a thread on their way at once.
//   in     float4[count]       out    float[1], not written      count  number of float4      passes  readings
// block 512, grid 4 * SMS, count at least 2^24 for memory; 2^20 (16 MiB) and 50 passes for L2
// bytes per second = 16 * count * passes / time
extern "C" __global__ void __launch_bounds__(512)
    read_vectors(const float4* __restrict__ in, float* __restrict__ out, long long count, int passes)
{
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int pass = 0; pass < passes; pass++) {
        const long long step = (long long)gridDim.x * blockDim.x * READ_LOADS;
        long long first = (long long)blockIdx.x * blockDim.x * READ_LOADS + threadIdx.x;
        for (; first < count; first += step) {
            float4 v[READ_LOADS];
#pragma unroll
            for (int u = 0; u < READ_LOADS; u++) {
                const long long i = first + u * blockDim.x;
                // Through L2 only: what L1 gives back is no reading of memory.
                v[u] = i < count ? __ldcg(in + i) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            }
#pragma unroll
            for (int u = 0; u < READ_LOADS; u++) {
                sum.x += v[u].x;
                sum.y += v[u].y;
                sum.z += v[u].z;
                sum.w += v[u].w;
            }
        }
    }
    if (sum.x + sum.y + sum.z + sum.w == NEVER) {
        *out = sum.x;
    }
}

// Reads one float at a time, as a first kernel does.
//   in     float[count]        out    float[1], not written      count  number of floats
// block 256, grid ceil_div(count, 256)
// bytes per second = 4 * count / time
extern "C" __global__ void read_scalars(const float* __restrict__ in, float* __restrict__ out, long long count)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count && in[i] == NEVER) {
        *out = in[i];
    }
}

// Writes one float4 with each thread.
//   out    float4[count]       count  number of float4           value  what to write
// block 256, grid ceil_div(count, 256)
// bytes per second = 16 * count / time
extern "C" __global__ void write_vectors(float4* __restrict__ out, long long count, float value)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        out[i] = make_float4(value, value, value, value);
    }
}

// Copies one float with each thread.
//   in     float[count]        out    float[count]               count  number of floats
// block 256, grid ceil_div(count, 256)
// bytes per second = 8 * count / time (read and written)
extern "C" __global__ void copy_scalars(const float* __restrict__ in, float* __restrict__ out, long long count)
{
    const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        out[i] = in[i];
    }
}

#define COPY_VECTORS 2

// Copies two float4 with each thread, both on their way at once.
//   in     float4[count]       out    float4[count]              count  number of float4
// block 128, grid ceil_div(count, 256)
// bytes per second = 32 * count / time (read and written)
extern "C" __global__ void __launch_bounds__(128)
    copy_vectors(const float4* __restrict__ in, float4* __restrict__ out, long long count)
{
    const long long first = (long long)blockIdx.x * blockDim.x * COPY_VECTORS + threadIdx.x;
    float4 v[COPY_VECTORS];
#pragma unroll
    for (int u = 0; u < COPY_VECTORS; u++) {
        if (first + u * blockDim.x < count) {
            v[u] = in[first + u * blockDim.x];
        }
    }
#pragma unroll
    for (int u = 0; u < COPY_VECTORS; u++) {
        if (first + u * blockDim.x < count) {
            out[first + u * blockDim.x] = v[u];
        }
    }
}

#if __CUDA_ARCH__ >= 900
#define BULK_BYTES 16384
#define BULK_STAGES (__CUDA_ARCH__ >= 1200 ? 6 : 8)  // from 12.0 on a block has 99 KB of shared memory, before 227

// Copies through shared memory with the copy engine: one thread for each multiprocessor, BULK_STAGES pieces of 16 KiB, of
// which up to half are being read and half being written.
//   in     bytes               out    bytes                      bytes  a multiple of 16
// block 32, grid SMS, dynamic shared memory BULK_STAGES * BULK_BYTES
// bytes per second = 2 * bytes / time (read and written)
extern "C" __global__ void __launch_bounds__(32) copy_bulk(const char* in, char* out, long long bytes)
{
    extern __shared__ __align__(128) char buffer[];
    __shared__ unsigned long long arrived[BULK_STAGES];
    if (threadIdx.x > 0) {
        return;
    }
    const long long pieces = (bytes + BULK_BYTES - 1) / BULK_BYTES;
    const unsigned barriers = static_cast<unsigned>(__cvta_generic_to_shared(arrived));
    const unsigned stages = static_cast<unsigned>(__cvta_generic_to_shared(buffer));
    for (int s = 0; s < BULK_STAGES; s++) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(barriers + 8 * s) : "memory");
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    auto fetch = [&](int turn) {
        const long long piece = blockIdx.x + (long long)turn * gridDim.x;
        if (piece < pieces) {
            const int s = turn % BULK_STAGES;
            const unsigned size = static_cast<unsigned>(min((long long)BULK_BYTES, bytes - piece * BULK_BYTES));
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barriers + 8 * s), "r"(size)
                         : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"
                         :
                         : "r"(stages + s * BULK_BYTES), "l"(in + piece * BULK_BYTES), "r"(size), "r"(barriers + 8 * s)
                         : "memory");
        }
    };
    for (int turn = 0; turn < BULK_STAGES / 2; turn++) {
        fetch(turn);
    }
    for (int turn = 0;; turn++) {
        const long long piece = blockIdx.x + (long long)turn * gridDim.x;
        if (piece >= pieces) {
            break;
        }
        const int s = turn % BULK_STAGES;
        const unsigned size = static_cast<unsigned>(min((long long)BULK_BYTES, bytes - piece * BULK_BYTES));
        asm volatile(
            "{\n"
            ".reg .pred there;\n"
            "again: mbarrier.try_wait.parity.shared.b64 there, [%0], %1;\n"
            "@!there bra again;\n"
            "}"
            :
            : "r"(barriers + 8 * s), "r"(turn / BULK_STAGES & 1)
            : "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\ncp.async.bulk.commit_group;"
                     :
                     : "l"(out + piece * BULK_BYTES), "r"(stages + s * BULK_BYTES), "r"(size)
                     : "memory");
        // The stage that is filled next was written out half of them ago: all but the newest writes have left it.
        asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(BULK_STAGES / 2 - 1) : "memory");
        fetch(turn + BULK_STAGES / 2);
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
#endif

// --- shared memory -------------------------------------------------------------------------------------------------

#define SHARED_LOADS 16

// Reads shared memory, 16 bytes a thread, neighbors for neighboring threads.
//   in     float4[1024]        out    float[1], not written      rounds
// block 512, grid 2 * SMS
// bytes per second = 16 * 16 * rounds * 512 * grid / time; per clock and multiprocessor: divide by SMS and the clock
extern "C" __global__ void __launch_bounds__(512) shared_read(const float4* in, float* out, int rounds)
{
    __shared__ float4 tile[1024];
    for (int i = threadIdx.x; i < 1024; i += 512) {
        tile[i] = in[i];
    }
    __syncthreads();
    const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(tile));
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int round = 0; round < rounds; round++) {
#pragma unroll
        for (int u = 0; u < SHARED_LOADS; u++) {
            float4 v;
            // volatile: the compiler must not keep in a register what was read before.
            asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                         : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                         : "r"(base + 16 * ((threadIdx.x + u * 32) & 1023)));
            sum.x += v.x;
            sum.y += v.y;
            sum.z += v.z;
            sum.w += v.w;
        }
    }
    if (sum.x + sum.y + sum.z + sum.w == NEVER) {
        *out = sum.x;
    }
}

// --- latency -------------------------------------------------------------------------------------------------------

// Makes a chain: element i * step holds the address of the one `jump` elements further, around in a circle. With count
// and jump without a common factor, every element is visited before the first comes again.
//   chain  unsigned long long[count * step]      count  elements      step  words of 8 bytes between elements      jump
// block 256, grid ceil_div(count, 256)
extern "C" __global__ void chain_make(unsigned long long* chain, unsigned count, unsigned step, unsigned jump)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        const unsigned long long next = ((unsigned long long)i + jump) % count;
        chain[(unsigned long long)i * step] = reinterpret_cast<unsigned long long>(chain + next * step);
    }
}

// Follows a chain: each load needs the address that the one before brings. `warm` hops come first and are not timed.
//   chain  from chain_make     out    unsigned long long[2]: clocks, and the address reached
//   warm   hops before         hops   hops that are timed
// block 1, grid 1; latency in clocks = out[0] / hops
//   L1:     chain_follow_l1, count 128, step 16 (16 KiB), jump 1, warm 128, hops 4096
//   L2:     chain_follow, count 65536, step 16 (8 MiB), jump 24593, warm 65536, hops 16384
//   memory: chain_follow, count 262144, step 512 (1 GiB), jump 98317, warm 0, hops 16384, after overwriting L2
extern "C" __global__ void chain_follow(const unsigned long long* chain, unsigned long long* out, int warm, int hops)
{
    const unsigned long long* at = chain;
    for (int i = 0; i < warm; i++) {
        at = reinterpret_cast<const unsigned long long*>(__ldcg(at));
    }
    const long long begin = clock64();
    for (int i = 0; i < hops; i++) {
        at = reinterpret_cast<const unsigned long long*>(__ldcg(at));
    }
    // No address is 0, but only the last load can tell: the clock is read when it is there.
    const long long end = at == nullptr ? 0 : clock64();
    out[0] = end - begin;
    out[1] = reinterpret_cast<unsigned long long>(at);
}

extern "C" __global__ void chain_follow_l1(const unsigned long long* chain, unsigned long long* out, int warm, int hops)
{
    const unsigned long long* at = chain;
    for (int i = 0; i < warm; i++) {
        at = reinterpret_cast<const unsigned long long*>(__ldca(at));
    }
    const long long begin = clock64();
    for (int i = 0; i < hops; i++) {
        at = reinterpret_cast<const unsigned long long*>(__ldca(at));
    }
    const long long end = at == nullptr ? 0 : clock64();
    out[0] = end - begin;
    out[1] = reinterpret_cast<unsigned long long>(at);
}

// The same in shared memory, around a circle of 1024 words.
//   out    unsigned long long[2]: clocks, and the address reached       hops  hops that are timed
// block 1, grid 1; latency in clocks = out[0] / hops
extern "C" __global__ void chain_follow_shared(unsigned long long* out, int hops)
{
    __shared__ unsigned chain[1024];
    const unsigned base = static_cast<unsigned>(__cvta_generic_to_shared(chain));
    for (unsigned i = 0; i < 1024; i++) {
        chain[i] = base + 4 * ((i + 33) % 1024);
    }
    unsigned at = base;
    const long long begin = clock64();
    for (int i = 0; i < hops; i++) {
        asm volatile("ld.shared.u32 %0, [%0];" : "+r"(at)::"memory");
    }
    const long long end = at == 0xffffffffu ? 0 : clock64();
    out[0] = end - begin;
    out[1] = at;
}

// --- launches ------------------------------------------------------------------------------------------------------

// Does nothing. Time of one launch between two events, and of N launches in one graph divided by N.
// block 32, grid 1
extern "C" __global__ void empty()
{
}
