// Shared memory and four rounds of 256 in each piece; one thread scans the sums.
__device__ int scan(int* s, int own) {  // sum up to this thread, its own included
    int t = threadIdx.x;
    s[t] = own;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int before = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += before;
        __syncthreads();
    }
    return s[t];
}
extern "C" __global__ void piece_sums(const int* lengths, int* sums, int n) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int own = 0;
    for (int k = 0; k < 4; k++) {
        int i = blockIdx.x * 1024 + k * 256 + threadIdx.x;
        if (i < n) own += lengths[i];
    }
    atomicAdd(&total, own);
    __syncthreads();
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}
extern "C" __global__ void scan_sums(int* sums, int pieces) {
    if (threadIdx.x) return;
    int before = 0;
    for (int p = 0; p < pieces; p++) {
        int own = sums[p];
        sums[p] = before;
        before += own;
    }
}
extern "C" __global__ void scan_pieces(const int* lengths, const int* sums, int* offsets, int n) {
    __shared__ int s[256];
    int carry = sums[blockIdx.x];
    for (int k = 0; k < 4; k++) {
        int i = blockIdx.x * 1024 + k * 256 + threadIdx.x, own = i < n ? lengths[i] : 0;
        int sum = scan(s, own);
        if (i < n) offsets[i] = carry + sum - own;
        carry += s[255];
        __syncthreads();
    }
}
