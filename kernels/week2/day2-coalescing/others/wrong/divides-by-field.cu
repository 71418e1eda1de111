// Exchanges quotient and remainder.
// rejected for: out_of_bounds
// leads to: past its end
// lockstep: block = 256
// lockstep: grid = (3 * n + 255) / 256
extern "C" __global__ void aos_to_soa(const float *points, float *soa, int n)
{
    const int e = blockIdx.x * 256 + threadIdx.x;
    if (e < 3 * n) soa[e / 3 * n + e % 3] = points[e];
}
