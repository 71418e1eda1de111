// scan_sums does nothing: each piece begins at its own sum, not at that of the pieces before it.
// rejected for: wrong_output
// leads to: the sum of the pieces before p only
extern "C" __global__ void piece_sums(const int* lengths, int* sums, int n) {
    if (threadIdx.x) return;
    int total = 0;
    for (int i = blockIdx.x * 1024; i < min(n, (int)blockIdx.x * 1024 + 1024); i++) total += lengths[i];
    sums[blockIdx.x] = total;
}
extern "C" __global__ void scan_sums(int* sums, int pieces) {}
extern "C" __global__ void scan_pieces(const int* lengths, const int* sums, int* offsets, int n) {
    if (threadIdx.x) return;
    int sum = sums[blockIdx.x];
    for (int i = blockIdx.x * 1024; i < min(n, (int)blockIdx.x * 1024 + 1024); i++) {
        offsets[i] = sum;
        sum += lengths[i];
    }
}
