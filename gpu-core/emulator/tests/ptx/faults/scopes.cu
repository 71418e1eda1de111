// Orders that reach too few threads: atomics and fences of block scope between blocks, `__syncwarp` of half a warp.

//@ block_atomic grid=2 args=count:1 fault=race says=block scope
extern "C" __global__ void block_atomic(unsigned *count) {
    atomicAdd_block(count, 1u);  // <- here
}

//@ block_atomic_spread grid=2 block=64 args=count:64 fault=race says=block scope
extern "C" __global__ void block_atomic_spread(unsigned *count) {
    atomicAdd_block(&count[threadIdx.x * 7 % 64], 1u);  // <- here
}

//@ block_atomic_own grid=2 block=64 args=count:2 fault=none
extern "C" __global__ void block_atomic_own(unsigned *count) {
    atomicAdd_block(&count[blockIdx.x], threadIdx.x);
}

//@ block_atomic_alone grid=1 block=128 args=count:1 fault=none
extern "C" __global__ void block_atomic_alone(unsigned *count) {
    atomicAdd_block(count, 1u);
    atomicAdd(count, 1u);
}

//@ device_atomic grid=4 block=64 args=count:1 fault=none
extern "C" __global__ void device_atomic(unsigned *count) {
    atomicAdd(count, 1u);
    atomicAdd_system(count, 1u);
}

//@ both_scopes grid=2 args=count:1 fault=race says=block scope
extern "C" __global__ void both_scopes(unsigned *count) {
    if (blockIdx.x == 0) atomicAdd_block(count, 1u);
    else atomicAdd(count, 1u);
}

//@ block_then_device grid=2 block=64 args=count:2,total:1 fault=none
// Block scope inside a block, behind a barrier the device's for the sum: the usual two steps.
extern "C" __global__ void block_then_device(unsigned *count, unsigned *total) {
    atomicAdd_block(&count[blockIdx.x], 1u);
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(total, count[blockIdx.x]);
}

//@ last_block grid=4 block=64 args=count:4,done:1,out:1 fault=none
// What a block counts alone, the last block reads: fences of the device order it.
extern "C" __global__ void last_block(unsigned *count, unsigned *done, unsigned *out) {
    atomicAdd_block(&count[blockIdx.x], 1u);
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        if (atomicAdd(done, 1u) == 3) {
            __threadfence();
            unsigned sum = 0;
            for (int i = 0; i < 4; i++) sum += atomicAdd_block(&count[i], 0u);
            *out = sum;
        }
    }
}

//@ block_fence grid=2 args=data:1,flag:1,out:1 fault=race
extern "C" __global__ void block_fence(unsigned *data, volatile unsigned *flag, unsigned *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;  // <- other
        __threadfence_block();
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence_block();
        *out = *data;  // <- here
    }
}

//@ device_fence grid=2 args=data:1,flag:1,out:1 fault=none
extern "C" __global__ void device_fence(unsigned *data, volatile unsigned *flag, unsigned *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        __threadfence();
        *flag = 1;
    } else {
        while (*flag == 0) {}
        __threadfence();
        *out = *data;
    }
}

//@ block_release grid=2 args=data:1,flag:1,out:1 fault=race
extern "C" __global__ void block_release(unsigned *data, unsigned *flag, unsigned *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        asm volatile("st.release.cta.global.u32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
        unsigned seen;
        do asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (seen == 0);
        *out = *data;  // <- here
    }
}

//@ half_acquire grid=2 args=data:1,flag:1,out:1 fault=race
// Released to the device, acquired for the block only.
extern "C" __global__ void half_acquire(unsigned *data, unsigned *flag, unsigned *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
        unsigned seen;
        do asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (seen == 0);
        *out = *data;  // <- here
    }
}

//@ device_release grid=2 args=data:1,flag:1,out:1 fault=none
extern "C" __global__ void device_release(unsigned *data, unsigned *flag, unsigned *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) {
        *data = 42;
        asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag) : "memory");
    } else {
        unsigned seen;
        do asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (seen == 0);
        *out = *data;
    }
}

//@ block_release_inside grid=1 block=64 args=data:1,flag:1,out:1 fault=none
extern "C" __global__ void block_release_inside(unsigned *data, unsigned *flag, unsigned *out) {
    if (threadIdx.x == 0) {
        *data = 42;
        asm volatile("st.release.cta.global.u32 [%0], 1;" ::"l"(flag) : "memory");
    } else if (threadIdx.x == 32) {
        unsigned seen;
        do asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
        while (seen == 0);
        *out = *data;
    }
}

//@ half_syncwarp args=out:32 fault=race
// Lanes 0 to 15 wait for each other, and read what lanes 16 to 31 wrote.
extern "C" __global__ void half_syncwarp(unsigned *out) {
    __shared__ unsigned s[32];
    unsigned lane = threadIdx.x;
    s[lane] = lane;  // <- other
    if (lane < 16) {
        __syncwarp(0x0000ffffu);
        out[lane] = s[lane + 16];  // <- here
    }
}

//@ half_syncwarp_global args=data:32,out:32 fault=race
extern "C" __global__ void half_syncwarp_global(unsigned *data, unsigned *out) {
    unsigned lane = threadIdx.x;
    data[lane] = lane;  // <- other
    if (lane < 16) {
        __syncwarp(0x0000ffffu);
        out[lane] = data[lane + 16];  // <- here
    }
}

//@ halves_inside args=data:32,out:32 fault=none
// Each half waits for itself and reads only what it wrote.
extern "C" __global__ void halves_inside(unsigned *data, unsigned *out) {
    __shared__ unsigned s[32];
    unsigned lane = threadIdx.x, half = lane & 16;
    s[lane] = lane;
    data[lane] = lane;
    if (half) __syncwarp(0xffff0000u);
    else __syncwarp(0x0000ffffu);
    unsigned other = half | (lane + 1) % 16;
    out[lane] = s[other] + data[other];
}

//@ halves_crossed args=out:32 fault=race
extern "C" __global__ void halves_crossed(unsigned *out) {
    __shared__ unsigned s[32];
    unsigned lane = threadIdx.x;
    s[lane] = lane;  // <- other
    if (lane & 16) __syncwarp(0xffff0000u);
    else __syncwarp(0x0000ffffu);
    out[lane] = s[lane ^ 16];  // <- here
}

//@ tiles args=out:32 fault=none
// Tiles of 8 in a loop, each in its own quarter.
extern "C" __global__ void tiles(unsigned *out) {
    __shared__ unsigned s[32];
    unsigned lane = threadIdx.x, first = lane & 24, mask = 0xffu << first;
    s[lane] = lane;
    __syncwarp(mask);
    for (unsigned step = 4; step > 0; step /= 2) {
        unsigned value = lane - first < step ? s[lane + step] : 0;
        __syncwarp(mask);
        if (lane - first < step) s[lane] += value;
        __syncwarp(mask);
    }
    out[lane] = s[first];
}

//@ relay args=out:32 fault=none
// Order passes on: lane 0 to lane 1, lane 1 to lane 2.
extern "C" __global__ void relay(unsigned *out) {
    __shared__ unsigned s[32];
    unsigned lane = threadIdx.x, at = lane == 2 ? 0 : lane;
    if (lane == 0) s[out[5]] = 7;
    if (lane < 2) __syncwarp(0x3u);
    if (lane == 1 || lane == 2) __syncwarp(0x6u);
    if (lane == 2) out[0] = s[at];
}

//@ relay_broken args=out:32 fault=race
// The second meeting comes first: nothing that lane 0 does later reaches lane 2.
extern "C" __global__ void relay_broken(unsigned *out) {
    __shared__ unsigned s[32];
    unsigned lane = threadIdx.x, at = lane == 2 ? 0 : lane;
    if (lane == 1 || lane == 2) __syncwarp(0x6u);
    if (lane == 0) s[out[5]] = 7;
    if (lane < 2) __syncwarp(0x3u);
    if (lane == 2) out[0] = s[at];
}

//@ whole_after_half args=out:32 fault=none
extern "C" __global__ void whole_after_half(unsigned *out) {
    __shared__ unsigned s[32];
    unsigned lane = threadIdx.x;
    s[lane] = lane;
    if (lane < 16) __syncwarp(0x0000ffffu);
    __syncwarp();
    out[lane] = s[lane ^ 16];
}

//@ barrier_after_half block=64 args=out:64 fault=none
extern "C" __global__ void barrier_after_half(unsigned *out) {
    __shared__ unsigned s[64];
    unsigned t = threadIdx.x;
    s[t] = t;
    if (t % 32 < 16) __syncwarp(0x0000ffffu);
    __syncthreads();
    out[t] = s[t ^ 16] + s[63 - t];
}

//@ rest_of_warp args=out:32 fault=none
// The lanes that still run meet.
extern "C" __global__ void rest_of_warp(unsigned *out) {
    __shared__ unsigned s[32];
    unsigned lane = threadIdx.x;
    if (lane >= 24) return;
    s[lane] = lane;
    __syncwarp(0x00ffffffu);
    out[lane] = s[23 - lane];
}
