// scan_sums carries only the last round's total: from the third round on, sums are too small.
// rejected for: wrong_output
// leads to: carry
extern "C" __global__ void piece_sums(const int* lengths, int* sums, int n) {
    if (threadIdx.x) return;
    int total = 0;
    for (int i = blockIdx.x * 1024; i < min(n, (int)blockIdx.x * 1024 + 1024); i++) total += lengths[i];
    sums[blockIdx.x] = total;
}
extern "C" __global__ void scan_sums(int* sums, int pieces) {
    __shared__ int s[1024];
    int carry = 0;
    for (int first = 0; first < pieces; first += blockDim.x) {
        int p = first + threadIdx.x, own = p < pieces ? sums[p] : 0;
        s[threadIdx.x] = own;
        __syncthreads();
        int before = 0, total = 0;
        for (int k = 0; k < blockDim.x; k++) {
            if (k < threadIdx.x) before += s[k];
            total += s[k];
        }
        if (p < pieces) sums[p] = carry + before;
        carry = total;
        __syncthreads();
    }
}
extern "C" __global__ void scan_pieces(const int* lengths, const int* sums, int* offsets, int n) {
    if (threadIdx.x) return;
    int sum = sums[blockIdx.x];
    for (int i = blockIdx.x * 1024; i < min(n, (int)blockIdx.x * 1024 + 1024); i++) {
        offsets[i] = sum;
        sum += lengths[i];
    }
}
