// As many floats as points.
// rejected for: uninitialised
// leads to: How many floats does each thread have to load
// lockstep: block = 256
// lockstep: grid = (n + 255) / 256
extern "C" __global__ void aos_to_soa(const float *points, float *soa, int n)
{
    __shared__ float s[768];
    const int first = blockIdx.x * 256, count = min(256, n - first);
    for (int i = threadIdx.x; i < count; i += 256) s[i] = points[3 * first + i];
    __syncthreads();
    if (threadIdx.x < count)
        for (int f = 0; f < 3; f++) soa[f * n + first + threadIdx.x] = s[3 * threadIdx.x + f];
}
