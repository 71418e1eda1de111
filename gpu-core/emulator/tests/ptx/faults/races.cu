// Kernels that race and their corrected twins. `//@ name key=value ...` says how to launch the next kernel and what the
// emulator must say of it; `<- here` and `<- other` mark the two lines that it must name.

//@ overlap_types block=64 args=out:64 fault=race
extern "C" __global__ void overlap_types(unsigned* out) {
    __shared__ unsigned long long s[64];
    ((unsigned char*)s)[threadIdx.x * 4 + 3] = 1; // <- other
    unsigned short v = ((unsigned short*)s)[(threadIdx.x ^ 33) * 2 + 1]; // <- here
    out[threadIdx.x] = v >> 8;
}
//@ overlap_types_ok block=64 args=out:64 fault=none
extern "C" __global__ void overlap_types_ok(unsigned* out) {
    __shared__ unsigned long long s[64];
    ((unsigned char*)s)[threadIdx.x * 4 + 2] = 1;
    ((unsigned char*)s)[threadIdx.x * 4 + 3] = 1;
    __syncthreads();
    unsigned short v = ((unsigned short*)s)[(threadIdx.x ^ 33) * 2 + 1];
    out[threadIdx.x] = v >> 8;
}
// Neighbouring bytes of one word are different places.
//@ bytes_ok block=64 args=out:64 fault=none
extern "C" __global__ void bytes_ok(unsigned* out) {
    __shared__ unsigned char s[64];
    s[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = s[threadIdx.x];
}
//@ vector_part block=64 args=out:64 fault=race
extern "C" __global__ void vector_part(float* out) {
    __shared__ float4 s[64];
    s[threadIdx.x] = make_float4(1, 2, 3, 4); // <- other
    out[threadIdx.x] = ((float*)s)[((threadIdx.x + 32) % 64) * 4 + 3]; // <- here
}
//@ second_iteration block=64 args=out:64 fault=race
extern "C" __global__ void second_iteration(float* out) {
    __shared__ float s[64];
    float sum = 0;
    for (int i = 0; i < 4; ++i) {
        s[threadIdx.x] = i; // <- here
        __syncthreads();
        sum += s[63 - threadIdx.x]; // <- other
    }
    out[threadIdx.x] = sum;
}
//@ second_iteration_ok block=64 args=out:64 fault=none
extern "C" __global__ void second_iteration_ok(float* out) {
    __shared__ float s[64];
    float sum = 0;
    for (int i = 0; i < 4; ++i) {
        s[threadIdx.x] = i;
        __syncthreads();
        sum += s[63 - threadIdx.x];
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
// Two buffers in turns need one barrier per step only.
//@ double_buffer_ok block=64 args=out:64 fault=none
extern "C" __global__ void double_buffer_ok(float* out) {
    __shared__ float s[2][64];
    float sum = 0;
    for (int i = 0; i < 5; ++i) {
        s[i & 1][threadIdx.x] = i;
        __syncthreads();
        sum += s[i & 1][63 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}
//@ single_buffer_late block=64 args=out:64 fault=race
extern "C" __global__ void single_buffer_late(float* out) {
    __shared__ float s[2][64];
    float sum = 0;
    for (int i = 0; i < 5; ++i) {
        s[i / 2 & 1][threadIdx.x] = i;
        __syncthreads();
        sum += s[i / 2 & 1][63 - threadIdx.x];
    }
    out[threadIdx.x] = sum;
}
//@ warp_reduce block=32 args=out:1 fault=race
extern "C" __global__ void warp_reduce(float* out) {
    __shared__ float s[64];
    s[threadIdx.x] = threadIdx.x;
    s[threadIdx.x + 32] = 0;
    __syncwarp();
    for (int o = 16; o > 0; o >>= 1) s[threadIdx.x] += s[threadIdx.x + o]; // <- here
    if (threadIdx.x == 0) out[0] = s[0];
}
//@ warp_reduce_half block=32 args=out:1 fault=race
extern "C" __global__ void warp_reduce_half(float* out) {
    __shared__ float s[64];
    s[threadIdx.x] = threadIdx.x;
    s[threadIdx.x + 32] = 0;
    __syncwarp();
    for (int o = 16; o > 0; o >>= 1) {
        float v = s[threadIdx.x + o];
        s[threadIdx.x] += v;
        __syncwarp();
    }
    if (threadIdx.x == 0) out[0] = s[0];
}
//@ warp_reduce_ok block=32 args=out:1 fault=none
extern "C" __global__ void warp_reduce_ok(float* out) {
    __shared__ float s[64];
    s[threadIdx.x] = threadIdx.x;
    s[threadIdx.x + 32] = 0;
    __syncwarp();
    for (int o = 16; o > 0; o >>= 1) {
        float v = s[threadIdx.x + o];
        __syncwarp();
        s[threadIdx.x] += v;
        __syncwarp();
    }
    if (threadIdx.x == 0) out[0] = s[0];
}
// The way it was written before Volta: `volatile` orders nothing between lanes.
//@ warp_volatile block=32 args=out:1 fault=race
extern "C" __global__ void warp_volatile(float* out) {
    __shared__ float store[64];
    volatile float* s = store;
    s[threadIdx.x] = threadIdx.x;
    s[threadIdx.x + 32] = 0;
    s[threadIdx.x] += s[threadIdx.x + 16];
    s[threadIdx.x] += s[threadIdx.x + 8];
    s[threadIdx.x] += s[threadIdx.x + 4];
    s[threadIdx.x] += s[threadIdx.x + 2];
    s[threadIdx.x] += s[threadIdx.x + 1];
    if (threadIdx.x == 0) out[0] = s[0];
}
// A flag between warps is what `volatile` (with a fence) is for.
//@ volatile_flag_ok block=64 args=out:64 fault=none
extern "C" __global__ void volatile_flag_ok(unsigned* out) {
    __shared__ volatile unsigned flag;
    __shared__ unsigned data[32];
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        data[threadIdx.x] = threadIdx.x;
        __threadfence_block();
        __syncwarp();
        if (threadIdx.x == 0) flag = 1;
        out[threadIdx.x] = 1;
    } else {
        while (flag == 0) {}
        __threadfence_block();
        out[threadIdx.x] = data[threadIdx.x - 32];
    }
}
//@ volatile_flag_no_fence block=64 args=out:64 fault=race
extern "C" __global__ void volatile_flag_no_fence(unsigned* out) {
    __shared__ volatile unsigned flag;
    __shared__ unsigned data[32];
    if (threadIdx.x == 0) flag = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        data[threadIdx.x] = threadIdx.x; // <- other
        if (threadIdx.x == 0) flag = 1;
        out[threadIdx.x] = 1;
    } else {
        while (flag == 0) {}
        out[threadIdx.x] = data[threadIdx.x - 32]; // <- here
    }
}
//@ last_step_unsynced block=128 args=out:1 fault=race
extern "C" __global__ void last_step_unsynced(float* out) {
    __shared__ float s[128];
    s[threadIdx.x] = 1;
    for (int o = 64; o > 0; o >>= 1) {
        __syncthreads();
        if (threadIdx.x < o) s[threadIdx.x] += s[threadIdx.x + o]; // <- other
    }
    if (threadIdx.x == 127) out[0] = s[0]; // <- here
}
//@ scan_in_place block=64 args=out:64 fault=race
extern "C" __global__ void scan_in_place(float* out) {
    __shared__ float s[64];
    s[threadIdx.x] = 1;
    __syncthreads();
    for (int o = 1; o < 64; o <<= 1) {
        if (threadIdx.x >= o) s[threadIdx.x] += s[threadIdx.x - o];
        __syncthreads();
    }
    out[threadIdx.x] = s[threadIdx.x];
}
//@ scan_ok block=64 args=out:64 fault=none
extern "C" __global__ void scan_ok(float* out) {
    __shared__ float s[64];
    s[threadIdx.x] = 1;
    __syncthreads();
    for (int o = 1; o < 64; o <<= 1) {
        float v = threadIdx.x >= o ? s[threadIdx.x - o] : 0;
        __syncthreads();
        s[threadIdx.x] += v;
        __syncthreads();
    }
    out[threadIdx.x] = s[threadIdx.x];
}
//@ plain_and_atomic block=64 args=out:1 fault=race
extern "C" __global__ void plain_and_atomic(unsigned* out) {
    __shared__ unsigned count;
    if (threadIdx.x == 0) count = 0; // <- other
    atomicAdd(&count, 1); // <- here
    __syncthreads();
    if (threadIdx.x == 0) out[0] = count;
}
//@ atomic_then_plain block=64 args=out:64 fault=race
extern "C" __global__ void atomic_then_plain(unsigned* out) {
    __shared__ unsigned count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    atomicAdd(&count, 1); // <- other
    out[threadIdx.x] = count; // <- here
}
//@ histogram_ok grid=2 block=64 args=out:16,in:64 fault=none
extern "C" __global__ void histogram_ok(unsigned* out, const unsigned* in) {
    __shared__ unsigned h[16];
    if (threadIdx.x < 16) h[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&h[in[threadIdx.x] & 15], 1);
    __syncthreads();
    if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], h[threadIdx.x]);
}
// Everybody stores the same: no outcome depends on the order.
//@ same_value_ok block=64 args=out:64 fault=none
extern "C" __global__ void same_value_ok(unsigned* out) {
    __shared__ unsigned any;
    if (threadIdx.x == 0) any = 0;
    __syncthreads();
    if (threadIdx.x % 3 == 0) any = 1;
    __syncthreads();
    out[threadIdx.x] = any;
}
//@ different_value block=64 args=out:64 fault=race
extern "C" __global__ void different_value(unsigned* out) {
    __shared__ unsigned last;
    if (threadIdx.x % 32 == 0) last = threadIdx.x; // <- here
    __syncthreads();
    out[threadIdx.x] = last;
}
// Lanes of one warp take turns: it ends on Volta and later only, which is worth a remark.
//@ spin_lock_warp_ok block=32 args=out:2 fault=none note=waited
extern "C" __global__ void spin_lock_warp_ok(unsigned* out) {
    while (atomicCAS(&out[0], 0, 1) != 0) {}
    __threadfence();
    out[1] += 1;
    __threadfence();
    atomicExch(&out[0], 0);
}
//@ spin_lock_ok grid=4 block=32 args=out:2 fault=none
extern "C" __global__ void spin_lock_ok(unsigned* out) {
    bool done = false;
    while (!done) {
        if (atomicCAS(&out[0], 0, 1) == 0) {
            __threadfence();
            out[1] += 1;
            __threadfence();
            atomicExch(&out[0], 0);
            done = true;
        }
    }
}
//@ spin_lock_no_fence grid=4 block=1 args=out:2 fault=race
extern "C" __global__ void spin_lock_no_fence(unsigned* out) {
    while (atomicCAS(&out[0], 0, 1) != 0) {}
    out[1] += 1; // <- here
    atomicExch(&out[0], 0);
}
//@ flag_release_ok grid=2 block=1 args=out:3 fault=none
extern "C" __global__ void flag_release_ok(unsigned* out) {
    if (blockIdx.x == 0) {
        out[1] = 7;
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(out) : "memory");
    } else {
        unsigned f;
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(f) : "l"(out) : "memory");
        while (f == 0);
        out[2] = out[1];
    }
}
//@ flag_relaxed grid=2 block=1 args=out:3 fault=race
extern "C" __global__ void flag_relaxed(unsigned* out) {
    if (blockIdx.x == 0) {
        out[1] = 7; // <- other
        asm volatile("st.relaxed.gpu.global.u32 [%0], 1;" ::"l"(out) : "memory");
    } else {
        unsigned f;
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(f) : "l"(out) : "memory");
        while (f == 0);
        out[2] = out[1]; // <- here
    }
}
//@ flag_relaxed_reader grid=2 block=1 args=out:3 fault=race
extern "C" __global__ void flag_relaxed_reader(unsigned* out) {
    if (blockIdx.x == 0) {
        out[1] = 7; // <- other
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(out) : "memory");
    } else {
        unsigned f;
        do asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(f) : "l"(out) : "memory");
        while (f == 0);
        out[2] = out[1]; // <- here
    }
}
//@ flag_relaxed_reader_fence_ok grid=2 block=1 args=out:3 fault=none
extern "C" __global__ void flag_relaxed_reader_fence_ok(unsigned* out) {
    if (blockIdx.x == 0) {
        out[1] = 7;
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(out) : "memory");
    } else {
        unsigned f;
        do asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(f) : "l"(out) : "memory");
        while (f == 0);
        __threadfence();
        out[2] = out[1];
    }
}
// A second message over the same flag, sent with no release.
//@ flag_second_message grid=2 block=1 args=out:4 fault=race
extern "C" __global__ void flag_second_message(unsigned* out) {
    if (blockIdx.x == 0) {
        out[1] = 7;
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(out) : "memory");
        unsigned f;
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(f) : "l"(out + 3) : "memory");
        while (f == 0);
        out[1] = 8; // <- other
        asm volatile("st.relaxed.gpu.global.u32 [%0], 2;" ::"l"(out) : "memory");
    } else {
        unsigned f;
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(f) : "l"(out) : "memory");
        while (f == 0);
        out[2] = out[1];
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(out + 3) : "memory");
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(f) : "l"(out) : "memory");
        while (f == 1);
        out[2] += out[1]; // <- here
    }
}
// A fence of the block's scope orders nothing for other blocks; a proxy fence is no memory fence.
//@ flag_block_fence grid=2 block=1 args=out:3 fault=race
extern "C" __global__ void flag_block_fence(unsigned* out) {
    if (blockIdx.x == 0) {
        out[1] = 7; // <- other
        __threadfence_block();
        *(volatile unsigned*)out = 1;
    } else {
        while (*(volatile unsigned*)out == 0) {}
        __threadfence();
        out[2] = out[1]; // <- here
    }
}
//@ flag_fence_ok grid=2 block=1 args=out:3 fault=none
extern "C" __global__ void flag_fence_ok(unsigned* out) {
    if (blockIdx.x == 0) {
        out[1] = 7;
        __threadfence();
        *(volatile unsigned*)out = 1;
    } else {
        while (*(volatile unsigned*)out == 0) {}
        __threadfence();
        out[2] = out[1];
    }
}
//@ last_block_ok grid=6 block=32 args=out:1,tmp:6,count:1 fault=none
extern "C" __global__ void last_block_ok(unsigned* out, unsigned* tmp, unsigned* count) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        tmp[blockIdx.x] = blockIdx.x;
        __threadfence();
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        unsigned sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += tmp[i];
        out[0] = sum;
    }
}
//@ last_block_no_fence grid=6 block=32 args=out:1,tmp:6,count:1 fault=race
extern "C" __global__ void last_block_no_fence(unsigned* out, unsigned* tmp, unsigned* count) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        tmp[blockIdx.x] = blockIdx.x; // <- other
        last = atomicAdd(count, 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && threadIdx.x == 0) {
        unsigned sum = 0;
        for (int i = 0; i < gridDim.x; ++i) sum += tmp[i]; // <- here
        out[0] = sum;
    }
}
// A barrier over the grid by hand: every block fits on the device.
//@ grid_barrier_ok grid=8 block=64 args=out:512,state:1 fault=none
extern "C" __global__ void grid_barrier_ok(unsigned* out, unsigned* state) {
    out[blockIdx.x * 64 + threadIdx.x] = blockIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(state, 1);
        while (*(volatile unsigned*)state < gridDim.x) {}
        __threadfence();
    }
    __syncthreads();
    unsigned other = out[(blockIdx.x + 1) % gridDim.x * 64 + threadIdx.x];
    if (other == 99) out[0] = 1;
}
//@ grid_barrier_missing grid=8 block=64 args=out:512 fault=race
extern "C" __global__ void grid_barrier_missing(unsigned* out) {
    out[blockIdx.x * 64 + threadIdx.x] = blockIdx.x;
    __syncthreads();
    unsigned other = out[(blockIdx.x + 1) % gridDim.x * 64 + threadIdx.x];
    if (other == 99) out[0] = 1;
}
// Named barriers: two pairs of warps that never meet each other.
//@ named_ok block=128 args=out:128 fault=none
extern "C" __global__ void named_ok(unsigned* out) {
    __shared__ unsigned s[128];
    s[threadIdx.x] = threadIdx.x;
    asm volatile("bar.sync %0, 64;" ::"r"(1 + threadIdx.x / 64) : "memory");
    out[threadIdx.x] = s[threadIdx.x ^ 32];
}
//@ named_crossed block=128 args=out:128 fault=race
extern "C" __global__ void named_crossed(unsigned* out) {
    __shared__ unsigned s[128];
    s[threadIdx.x] = threadIdx.x; // <- other
    asm volatile("bar.sync %0, 64;" ::"r"(1 + threadIdx.x / 64) : "memory");
    out[threadIdx.x] = s[threadIdx.x ^ 64]; // <- here
}
//@ producer_arrives_ok block=64 args=out:32 fault=none
extern "C" __global__ void producer_arrives_ok(unsigned* out) {
    __shared__ unsigned s[32];
    if (threadIdx.x < 32) {
        s[threadIdx.x] = threadIdx.x;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x - 32] = s[63 - threadIdx.x];
    }
}
//@ producer_arrives_early block=64 args=out:32 fault=race
extern "C" __global__ void producer_arrives_early(unsigned* out) {
    __shared__ unsigned s[32];
    if (threadIdx.x < 32) {
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        s[threadIdx.x] = threadIdx.x;
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[threadIdx.x - 32] = s[63 - threadIdx.x];
    }
}
