// Goes over a piece in four rounds and begins each of them at the piece's sum.
// rejected for: wrong_output
// leads to: carry
__device__ int scan(int* s, int own) {
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
    for (int k = 0; k < 4; k++) {
        int i = blockIdx.x * 1024 + k * 256 + threadIdx.x;
        if (i < n) atomicAdd(&total, lengths[i]);
    }
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
    for (int k = 0; k < 4; k++) {
        int i = blockIdx.x * 1024 + k * 256 + threadIdx.x, own = i < n ? lengths[i] : 0;
        int sum = scan(s, own);
        if (i < n) offsets[i] = sums[blockIdx.x] + sum - own;
        __syncthreads();
    }
}
