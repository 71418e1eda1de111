// TODO 1: sums[p] is the sum of piece p, 1024 elements long.
extern "C" __global__ void piece_sums(const int* lengths, int* sums, int n) {
    if (threadIdx.x == 0) sums[blockIdx.x] = 0;
}

// TODO 2: sums[p] becomes the sum of all pieces before p.
extern "C" __global__ void scan_sums(int* sums, int pieces) {
    for (int p = threadIdx.x; p < pieces; p += blockDim.x) sums[p] = 0;
}

// TODO 3: offsets[i] is the sum of all lengths before i.
extern "C" __global__ void scan_pieces(const int* lengths, const int* sums, int* offsets, int n) {
    for (int i = blockIdx.x * 1024 + threadIdx.x; i < min(n, (int)(blockIdx.x + 1) * 1024); i += blockDim.x)
        offsets[i] = sums[blockIdx.x];
}
