// Does the rounds up to 512 only.
// rejected for: wrong_output
// leads to: 1024
extern "C" __global__ void sort_rows(const float* x, float* sorted, int* origin, int n) {
    __shared__ float keys[1024];
    __shared__ int from[1024];
    int i = threadIdx.x;
    size_t row = (size_t)blockIdx.x * n;
    keys[i] = i < n ? x[row + i] : INFINITY;
    from[i] = i;
    __syncthreads();
    for (int size = 2; size <= 512; size *= 2)
        for (int d = size / 2; d > 0; d /= 2) {
            int p = i ^ d;
            if (p > i) {
                bool up = (i & size) == 0;
                if ((keys[i] > keys[p]) == up) {
                    float k = keys[i];
                    keys[i] = keys[p];
                    keys[p] = k;
                    int f = from[i];
                    from[i] = from[p];
                    from[p] = f;
                }
            }
            __syncthreads();
        }
    if (i < n) {
        sorted[row + i] = keys[i];
        origin[row + i] = from[i];
    }
}
