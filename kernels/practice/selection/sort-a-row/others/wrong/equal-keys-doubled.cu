// Both partners decide by the keys alone: of two equal ones, one column comes twice.
// rejected for: wrong_output
// leads to: equal
extern "C" __global__ void sort_rows(const float* x, float* sorted, int* origin, int n) {
    __shared__ float keys[1024];
    __shared__ int from[1024];
    int i = threadIdx.x, place = i;
    size_t row = (size_t)blockIdx.x * n;
    float key = i < n ? x[row + i] : INFINITY;
    for (int size = 2; size <= 1024; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            keys[i] = key;
            from[i] = place;
            __syncthreads();
            float other = keys[i ^ d];
            int there = from[i ^ d];
            __syncthreads();
            bool keeps_smaller = ((i & d) == 0) == ((i & size) == 0);
            if (keeps_smaller == (other < key)) key = other, place = there;
        }
    if (i < n) sorted[row + i] = key, origin[row + i] = place;
}
