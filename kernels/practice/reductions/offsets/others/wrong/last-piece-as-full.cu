// Reads four lengths at a time and checks only the first of the four.
// rejected for: out_of_bounds
// leads to: Compare every index
extern "C" __global__ void piece_sums(const int* lengths, int* sums, int n) {
    __shared__ int total;
    if (threadIdx.x == 0) total = 0;
    __syncthreads();
    int i = blockIdx.x * 1024 + 4 * threadIdx.x;
    if (i < n) atomicAdd(&total, lengths[i] + lengths[i + 1] + lengths[i + 2] + lengths[i + 3]);
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
    if (threadIdx.x) return;
    int sum = sums[blockIdx.x];
    for (int i = blockIdx.x * 1024; i < min(n, (int)blockIdx.x * 1024 + 1024); i++) {
        offsets[i] = sum;
        sum += lengths[i];
    }
}
