// Believes that a block of 256 threads owns 256 elements.
// rejected for: never_written
// leads to: 1024
extern "C" __global__ void piece_sums(const int* lengths, int* sums, int n) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) atomicAdd(&total, lengths[i]);
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
    int i = blockIdx.x * 256 + threadIdx.x;
    s[threadIdx.x] = i < n ? lengths[i] : 0;
    __syncthreads();
    int sum = sums[blockIdx.x];
    for (int k = 0; k < threadIdx.x; k++) sum += s[k];
    if (i < n) offsets[i] = sum;
}
