// The mask of the lanes below comes from shifting all ones.
extern "C" __global__ void list_ones(const int* __restrict__ x, int* __restrict__ list, int* __restrict__ counts, int rows, int n) {
    unsigned lane = threadIdx.x & 31u;
    for (int row = blockIdx.x * 8 + (threadIdx.x >> 5); row < rows; row += gridDim.x * 8) {
        int* at = list + (size_t)row * n;
        for (int base = 0; base < n; base += 32) {
            int flag = base + (int)lane < n ? __ldg(x + (size_t)row * n + base + lane) : 0;
            unsigned hits = __ballot_sync(~0u, flag);
            unsigned before = lane ? hits << (32 - lane) : 0u;
            if (hits >> lane & 1u) at[__popc(before)] = base + lane;
            at += __popc(hits);
        }
        if (lane == 0) counts[row] = (int)(at - (list + (size_t)row * n));
    }
}
