// The piece is scanned first, and then all of the result is read again to add what comes before.
// does not reach: Read twice, written once
#define ALL 0xffffffffu
__device__ int scan_of_block(int own, int* last) {
    __shared__ int sums[1024];
    sums[threadIdx.x] = own;
    for (int distance = 1; distance < blockDim.x; distance *= 2) {
        __syncthreads();
        int before = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
        __syncthreads();
        sums[threadIdx.x] += before;
    }
    __syncthreads();
    if (last) *last = sums[blockDim.x - 1];
    int result = sums[threadIdx.x] - own;
    __syncthreads();
    return result;
}

extern "C" __global__ void piece_sums(const int* lengths, int* sums, int n) {
    int total = 0, own = 0;
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < min(n, (int)(blockIdx.x + 1) * 1024); i += blockDim.x) own += lengths[i];
    scan_of_block(own, &total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

extern "C" __global__ void scan_sums(int* sums, int pieces) {
    int carried = 0;
    for (int first = 0; first < pieces; first += blockDim.x) {
        int i = first + threadIdx.x, total, own = i < pieces ? sums[i] : 0;
        int before = scan_of_block(own, &total);
        if (i < pieces) sums[i] = carried + before;
        carried += total;
    }
}

extern "C" __global__ void scan_pieces(const int* lengths, const int* sums, int* offsets, int n) {
    int carried = 0, end = min(n, (int)(blockIdx.x + 1) * 1024);
    for (int first = blockIdx.x * 1024; first < end; first += blockDim.x) {
        int i = first + threadIdx.x, total, own = i < n ? lengths[i] : 0;
        int before = scan_of_block(own, &total);
        if (i < n) offsets[i] = carried + before;
        carried += total;
    }
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < end; i += blockDim.x) offsets[i] += sums[blockIdx.x];
}
