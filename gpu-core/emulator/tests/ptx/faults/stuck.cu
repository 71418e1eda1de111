// Waiting that never ends, in the ways that learners write it, and waiting that does end.

//@ flag_never grid=1024 block=256 args=flag:1 fault=deadlock says=wait for memory that nobody writes
extern "C" __global__ void flag_never(volatile int *flag) {
    while (*flag == 0) {}
}

//@ counted_spin grid=64 block=128 args=flag:1,out:1 fault=deadlock says=wait for memory that nobody writes
extern "C" __global__ void counted_spin(volatile int *flag, int *out) {
    int spins = 0;
    while (*flag == 0) spins++;
    if (threadIdx.x == 0 && blockIdx.x == 0) *out = spins;
}

//@ sleeping_spin grid=64 block=128 args=flag:1 fault=deadlock says=wait for memory that nobody writes
extern "C" __global__ void sleeping_spin(volatile int *flag) {
    while (*flag == 0) __nanosleep(100);
}

//@ grid_barrier_too_large grid=8192 block=1024 args=count:1 fault=deadlock says=have not started
extern "C" __global__ void grid_barrier_too_large(unsigned *count) {
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicAdd(count, 1u);
        while (atomicAdd(count, 0u) < gridDim.x) {}
    }
    __syncthreads();
}

//@ each_for_the_other grid=2 block=64 args=flags:2 fault=deadlock says=wait for memory that nobody writes
extern "C" __global__ void each_for_the_other(volatile int *flags) {
    if (threadIdx.x == 0) {
        while (flags[1 - blockIdx.x] == 0) {}
        flags[blockIdx.x] = 1;
    }
    __syncthreads();
}

//@ lock_kept grid=64 block=64 args=lock:1,sum:1 fault=deadlock says=wait for memory that nobody writes
extern "C" __global__ void lock_kept(int *lock, volatile int *sum) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        *sum += 1;
    }
}

//@ lock_kept_by_exchange grid=64 block=64 args=lock:1,sum:1 fault=deadlock says=wait for memory that nobody writes
extern "C" __global__ void lock_kept_by_exchange(int *lock, volatile int *sum) {
    if (threadIdx.x == 0) {
        while (atomicExch(lock, 1) != 0) {}
        *sum += 1;
    }
}

//@ behind_the_barrier block=128 args=out:1 fault=deadlock
extern "C" __global__ void behind_the_barrier(int *out) {
    __shared__ volatile int ready;
    if (threadIdx.x == 0) ready = 0;
    __syncthreads();
    if (threadIdx.x == 0) while (ready == 0) {}
    __syncthreads();
    if (threadIdx.x == 64) ready = 1;
    out[0] = 1;
}

//@ gives_up grid=64 block=64 args=flag:1,out:64 fault=none
// Polls often, then goes on: what a time limit looks like.
extern "C" __global__ void gives_up(volatile int *flag, int *out) {
    int polls = 0;
    while (*flag == 0 && polls < 20000) polls++;
    if (threadIdx.x == 0) out[blockIdx.x] = polls;
}

//@ slow_owner grid=16 block=32 args=lock:1,sum:1 fault=none
// Long work inside a lock while all the others wait.
extern "C" __global__ void slow_owner(int *lock, volatile unsigned *sum) {
    if (threadIdx.x == 0) {
        while (atomicCAS(lock, 0, 1) != 0) {}
        __threadfence();
        unsigned x = blockIdx.x + 1;
        for (int i = 0; i < 300000; i++) x = x * 1664525u + 1013904223u;
        *sum += x | 1;
        __threadfence();
        atomicExch(lock, 0);
    }
}

//@ tickets grid=64 block=64 args=next:1,serving:1,sum:1 fault=none
extern "C" __global__ void tickets(unsigned *next, volatile unsigned *serving, volatile unsigned *sum) {
    if (threadIdx.x % 32 == 0) {
        unsigned mine = atomicAdd(next, 1u);
        while (*serving != mine) {}
        __threadfence();
        *sum += 1;
        __threadfence();
        *serving = mine + 1;
    }
}

//@ late_signal grid=2 block=32 args=flag:1,out:1 fault=none
// One block computes for long before it says so.
extern "C" __global__ void late_signal(volatile unsigned *flag, unsigned *out) {
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 1) {
        unsigned x = 1;
        for (int i = 0; i < 1000000; i++) x = x * 1664525u + 1013904223u;
        *flag = x | 1;
    } else {
        while (*flag == 0) {}
        *out = 1;
    }
}
