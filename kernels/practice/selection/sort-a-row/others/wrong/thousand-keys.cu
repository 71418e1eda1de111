// Sorts 1000 keys and the padding: the last 24 of a full row are left.
// rejected for: wrong_output
// leads to: not in the list
extern "C" __global__ void sort_rows(const float* x, float* sorted, int* origin, int n) {
    __shared__ float keys[1000];
    int i = threadIdx.x;
    size_t row = (size_t)blockIdx.x * n;
    if (i < min(n, 1000)) keys[i] = x[row + i];
    __syncthreads();
    if (i >= min(n, 1000)) return;
    int rank = 0;
    for (int j = 0; j < min(n, 1000); j++) rank += keys[j] < keys[i] || (keys[j] == keys[i] && j < i);
    sorted[row + rank] = keys[i];
    origin[row + rank] = i;
}
