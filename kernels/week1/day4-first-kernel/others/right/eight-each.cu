// As on a CPU: each thread takes eight elements in a row.
// does not reach: Halfway there
// lockstep: grid = ceil_div(n, 8 * block_x)
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n)
{
    int first = 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    for (int i = first; i < first + 8 && i < n; i++) {
        c[i] = a[i] + b[i];
    }
}
