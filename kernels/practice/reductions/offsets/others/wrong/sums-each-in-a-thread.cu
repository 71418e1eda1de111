// Each thread of scan_sums adds up the sums before its own, while the others already overwrite theirs.
// rejected for: race
// leads to: while another writes it
extern "C" __global__ void piece_sums(const int* lengths, int* sums, int n) {
    if (threadIdx.x) return;
    int total = 0;
    for (int i = blockIdx.x * 1024; i < min(n, (int)blockIdx.x * 1024 + 1024); i++) total += lengths[i];
    sums[blockIdx.x] = total;
}
extern "C" __global__ void scan_sums(int* sums, int pieces) {
    for (int p = threadIdx.x; p < pieces; p += blockDim.x) {
        int before = 0;
        for (int q = 0; q < p; q++) before += sums[q];
        sums[p] = before;
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
