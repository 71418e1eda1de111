// Mistakes that people make, one kernel each, and what is right beside some of them. `cases.ptx` is what NVRTC 13.5 makes of this for
// sm_90a: `lockstep compile gpu-core/tests/data/cases.cu --arch sm_90a --emit ptx -o gpu-core/tests/data/cases.ptx`, with the paths of its headers made those of /usr/local.
#include <cuda_pipeline.h>

// -- c = a + b

__device__ unsigned served;

// A queue that nobody sets back.
extern "C" __global__ void serves_once(const float* a, const float* b, float* c, int n) {
    const unsigned ticket = atomicAdd(&served, 1u);
    if (ticket < n) c[ticket] = a[ticket] + b[ticket];
}

__device__ unsigned left_over;

// The same queue, which the last thread sets back.
extern "C" __global__ void serves_again(const float* a, const float* b, float* c, int n) {
    const unsigned ticket = atomicAdd(&left_over, 1u);
    if (ticket < n) c[ticket] = a[ticket] + b[ticket];
    if (ticket == gridDim.x * blockDim.x - 1) left_over = 0;
}

extern "C" __global__ void sixteen_bits(const float* a, const float* b, float* c, int n) {
    const unsigned short me = blockDim.x * blockIdx.x + threadIdx.x;
    if (me < n) c[me] = b[me] + a[me];
}

extern "C" __global__ void signed_sixteen_bits(const float* a, const float* b, float* c, int n) {
    const short me = blockDim.x * blockIdx.x + threadIdx.x;
    if (me < n) c[me] = b[me] + a[me];
}

extern "C" __global__ void eight_bits(const float* a, const float* b, float* c, int m, int n) {
    const unsigned char line = blockDim.y * blockIdx.y + threadIdx.y, place = blockDim.x * blockIdx.x + threadIdx.x;
    if (line < m && place < n) c[line * n + place] = a[line * n + place] + b[line * n + place];
}

// -- y = sum of x

extern "C" __global__ void all_lanes_add(const float* x, float* y, int n) {
    const int at = blockDim.x * blockIdx.x + threadIdx.x;
    float mine = at < n ? x[at] : 0.0f;
    for (int apart = 1; apart < 32; apart *= 2) mine += __shfl_xor_sync(~0u, mine, apart);
    atomicAdd(y, mine);
}

extern "C" __global__ void whole_total(const float* x, float* y, int n) {
    const int at = blockDim.x * blockIdx.x + threadIdx.x;
    if (at < n) atomicAdd(reinterpret_cast<int*>(y), int(x[at]));
}

extern "C" __global__ void odd_tree(const float* x, float* y, int n) {
    __shared__ float parts[96];
    const int me = threadIdx.x, at = blockDim.x * blockIdx.x + me;
    parts[me] = at < n ? x[at] : 0.0f;
    for (int half = blockDim.x / 2; half; half /= 2) {
        __syncthreads();
        if (me < half) parts[me] += parts[me + half];
    }
    if (me == 0) atomicAdd(y, parts[0]);
}

__device__ float sums[64];
__device__ unsigned arrived;

template <bool FENCE> __device__ void last_adds(const float* x, float* y, int n) {
    __shared__ bool finishes;
    if (threadIdx.x == 0) {
        float mine = 0.0f;
        for (int at = blockIdx.x; at < n; at += gridDim.x) mine += x[at];
        sums[blockIdx.x] = mine;
        if (FENCE) __threadfence();
        finishes = atomicAdd(&arrived, 1u) + 1 == gridDim.x;
    }
    __syncthreads();
    if (finishes && threadIdx.x == 0) {
        if (FENCE) __threadfence();
        float all = 0.0f;
        for (int block = 0; block < gridDim.x; block++) all += sums[block];
        *y = all;
        arrived = 0;
    }
}

extern "C" __global__ void last_without_fence(const float* x, float* y, int n) { last_adds<false>(x, y, n); }
extern "C" __global__ void last_with_fence(const float* x, float* y, int n) { last_adds<true>(x, y, n); }

__device__ float running;
__device__ unsigned ended;

// All threads add to one place, and one of the last block is to store it.
template <int CARE> __device__ void one_total(const float* x, float* y, int n) {
    __shared__ bool finishes;
    const int at = blockDim.x * blockIdx.x + threadIdx.x;
    if (at < n) atomicAdd(&running, x[at]);
    if (CARE > 0) __threadfence();
    if (CARE > 1) __syncthreads();
    if (threadIdx.x == 0) finishes = atomicAdd(&ended, 1u) + 1 == gridDim.x;
    __syncthreads();
    if (finishes && threadIdx.x == 0) {
        if (CARE > 0) __threadfence();
        *y = CARE == 1 ? *(volatile float*)&running + 0.0f * x[0] : running;
        if (CARE > 1) {
            running = 0.0f;
            ended = 0;
        }
    }
}

extern "C" __global__ void total_too_early(const float* x, float* y, int n) { one_total<0>(x, y, n); }
extern "C" __global__ void warps_too_early(const float* x, float* y, int n) { one_total<1>(x, y, n); }
extern "C" __global__ void total_in_time(const float* x, float* y, int n) { one_total<2>(x, y, n); }

__device__ float of_all;

extern "C" __global__ void last_by_number(const float* x, float* y, int n) {
    if (threadIdx.x == 0) atomicAdd(&of_all, x[blockIdx.x]);
    if (blockIdx.x + 1 == gridDim.x && threadIdx.x == 0) y[0] = of_all;
}

// A fence waits for nobody.
extern "C" __global__ void fence_for_all(const float* x, float* y, int n) {
    __shared__ float mine;
    const int at = blockDim.x * blockIdx.x + threadIdx.x;
    if (threadIdx.x == 0) atomicAdd(&of_all, at < n ? x[at] : 0.0f);
    __threadfence();
    if (threadIdx.x == 0) mine = of_all;
    if (threadIdx.x == 0 && blockIdx.x == 0) y[0] = mine;
}

// -- free runs: in[256], out[512], flag[1]

extern "C" __global__ void counts_too_early(const int* in, int* out, int* flag) {
    __shared__ int many;
    if (threadIdx.x == 7) many = 0;
    __syncthreads();
    if (in[threadIdx.x] >= 0) atomicAdd(&many, 1);
    __syncwarp();
    if (threadIdx.x + 1 == blockDim.x) out[0] = many;
}

extern "C" __global__ void counts_in_time(const int* in, int* out, int* flag) {
    __shared__ int many;
    if (threadIdx.x == 7) many = 0;
    __syncthreads();
    if (in[threadIdx.x] >= 0) atomicAdd(&many, 1);
    __syncthreads();
    if (threadIdx.x + 1 == blockDim.x) out[0] = many;
}

extern "C" __global__ void warp_in_step(const int* in, int* out, int* flag) {
    __shared__ volatile int part[96];
    const int lane = threadIdx.x;
    if (lane >= 32) return;
    part[lane] = in[lane];
    part[lane + 32] = 0;
    part[lane] += part[lane + 16];
    part[lane] += part[lane + 8];
    part[lane] += part[lane + 4];
    if (lane == 0) out[0] = part[0] + part[1] + part[2] + part[3];
}

extern "C" __global__ void barrier_for_some(const int* in, int* out, int* flag) {
    __shared__ int part[256];
    part[threadIdx.x] = in[threadIdx.x];
    if (threadIdx.x < 100) {
        __syncthreads();
        out[threadIdx.x] = part[255 - threadIdx.x];
    }
}

extern "C" __global__ void polls_a_copy(const int* in, int* out, int* flag) {
    if (blockIdx.x == 0) {
        out[threadIdx.x] = in[threadIdx.x];
        __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) *flag = 1;
        return;
    }
    while (!*flag) {}
    if (threadIdx.x == 0) out[511] = 1;
}

extern "C" __global__ void counts_down(const int* in, int* out, int* flag) {
    if (threadIdx.x > 0) return;
    int sum = 0;
    for (unsigned at = 9; at >= 0; at--) {
        sum += in[at];
        out[at] = sum;
    }
}

extern "C" __global__ void shared_of_no_size(const int* in, int* out, int* flag) {
    extern __shared__ int room[];
    room[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = room[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void copy_not_waited_for(const int* in, int* out, int* flag) {
    __shared__ __align__(16) int room[256];
    if (threadIdx.x < 64) __pipeline_memcpy_async(room + 4 * threadIdx.x, in + 4 * threadIdx.x, 16);
    __pipeline_commit();
    __syncthreads();
    out[threadIdx.x] = room[255 - threadIdx.x];
}

// The index runs out of one array and into the gap before the next one.
extern "C" __global__ void into_the_neighbour(const int* in, int* out, int* flag) {
    __shared__ int first[64];
    __shared__ int second[64];
    const int me = threadIdx.x % 64;
    first[me] = in[me];
    second[me] = in[me + 64];
    __syncthreads();
    out[threadIdx.x] = first[me + (in[255] < 0 ? 0 : 64)] + second[me];
}

// -- C = A * B, one tile of 16 after the other

template <typename Tile> __device__ void product(const float* a, const float* b, float* c, int m, int n, int k, Tile tile) {
    __shared__ float left[16][16], top[16][16];
    const int x = threadIdx.x, y = threadIdx.y, row = 16 * blockIdx.y + y, column = 16 * blockIdx.x + x;
    float sum = 0.0f;
    for (int first = 0; first < k; first += 16) {
        tile(left[y][x], top[y][x], first, x, y, row, column);
        __syncthreads();
        for (int i = 0; i < 16; i++) sum += left[y][i] * top[i][x];
        __syncthreads();
    }
    if (row < m && column < n) c[row * n + column] = sum;
}

extern "C" __global__ void filled_with_ones(const float* a, const float* b, float* c, int m, int n, int k) {
    product(a, b, c, m, n, k, [&](float& l, float& t, int first, int x, int y, int row, int column) {
        l = row < m && first + x < k ? a[row * k + first + x] : 1.0f;
        t = column < n && first + y < k ? b[(first + y) * n + column] : 1.0f;
    });
}

extern "C" __global__ void other_coordinate(const float* a, const float* b, float* c, int m, int n, int k) {
    product(a, b, c, m, n, k, [&](float& l, float& t, int first, int x, int y, int row, int column) {
        l = row < m && first + y < k ? a[row * k + first + y] : 0.0f;
        t = column < n && first + x < k ? b[(first + x) * n + column] : 0.0f;
    });
}
