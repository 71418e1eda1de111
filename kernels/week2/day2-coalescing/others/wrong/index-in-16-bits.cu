// Counts points in 16 bits.
// rejected for: race
// leads to: compute the same index
// lockstep: block = 128
// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void aos_to_soa(const float* points, float* soa, int n)
{
    unsigned short p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n) return;
    soa[p] = points[3 * p];
    soa[n + p] = points[3 * p + 1];
    soa[2 * n + p] = points[3 * p + 2];
}
