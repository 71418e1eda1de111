// Four neighbors for each thread, loaded one by one.
#define ALL 0xffffffffu

// The sum of all threads before this one, and the sum of the whole block.
__device__ int before_me(int own, int& total) {
    __shared__ int warps[32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, sum = own;
    for (int distance = 1; distance < 32; distance *= 2) {
        int before = __shfl_up_sync(ALL, sum, distance);
        if (lane >= distance) sum += before;
    }
    __syncthreads();  // the last call's sums have been read
    if (lane == 31) warps[warp] = sum;
    __syncthreads();
    int earlier = 0;
    total = 0;
    for (int w = 0; w < blockDim.x / 32; w++) {
        if (w < warp) earlier += warps[w];
        total += warps[w];
    }
    return earlier + sum - own;
}

// A thread owns four neighboring elements of a piece of 1024, which are one load where all four exist.
__device__ int4 four_at(const int* lengths, int first, int n) {
    return make_int4(first < n ? lengths[first] : 0, first + 1 < n ? lengths[first + 1] : 0,
                     first + 2 < n ? lengths[first + 2] : 0, first + 3 < n ? lengths[first + 3] : 0);
}

extern "C" __global__ void piece_sums(const int* lengths, int* sums, int n) {
    int4 own = four_at(lengths, blockIdx.x * 1024 + 4 * threadIdx.x, n);
    int total;
    before_me(own.x + own.y + own.z + own.w, total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

extern "C" __global__ void scan_sums(int* sums, int pieces) {
    int carried = 0;
    for (int first = 0; first < pieces; first += blockDim.x) {
        int i = first + threadIdx.x, total;
        int own = i < pieces ? sums[i] : 0;
        int before = before_me(own, total);
        if (i < pieces) sums[i] = carried + before;
        carried += total;
    }
}

extern "C" __global__ void scan_pieces(const int* lengths, const int* sums, int* offsets, int n) {
    int first = blockIdx.x * 1024 + 4 * threadIdx.x, total;
    int4 own = four_at(lengths, first, n);
    int4 sum;
    sum.x = sums[blockIdx.x] + before_me(own.x + own.y + own.z + own.w, total);
    sum.y = sum.x + own.x;
    sum.z = sum.y + own.y;
    sum.w = sum.z + own.z;
    if (first < n) offsets[first] = sum.x;
    if (first + 1 < n) offsets[first + 1] = sum.y;
    if (first + 2 < n) offsets[first + 2] = sum.z;
    if (first + 3 < n) offsets[first + 3] = sum.w;
}
