// A block for each row, halves of a shared array, and the first element as what everybody begins with.
// lockstep: grid = rows
// lockstep: block = 128
extern "C" __global__ void best_token(const float* x, int* index, float* value, int rows, int n) {
    __shared__ float best[128];
    __shared__ int at[128];
    int t = threadIdx.x;
    const float* row = x + (size_t)blockIdx.x * n;
    float b = row[0];
    int a = 0;
    for (int i = t; i < n; i += 128)
        if (row[i] > b || (row[i] == b && i < a)) b = row[i], a = i;
    best[t] = b;
    at[t] = a;
    for (int half = 64; half; half /= 2) {
        __syncthreads();
        if (t < half && (best[t + half] > best[t] || (best[t + half] == best[t] && at[t + half] < at[t])))
            best[t] = best[t + half], at[t] = at[t + half];
    }
    if (t == 0) index[blockIdx.x] = at[0], value[blockIdx.x] = best[0];
}
