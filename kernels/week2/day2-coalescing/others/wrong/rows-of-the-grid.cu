// Rows as long as the grid.
// rejected for: out_of_bounds
// leads to: valid elements are 0 to 2
// lockstep: block = 256
// lockstep: grid = (n + 255) / 256
extern "C" __global__ void aos_to_soa(const float *points, float *soa, int n)
{
    __shared__ float s[768];
    const int first = blockIdx.x * 256, t = threadIdx.x, row = gridDim.x * 256;
    for (int r = 0; r < 3; r++)
        if (3 * first + 256 * r + t < 3 * n) s[256 * r + t] = points[3 * first + 256 * r + t];
    __syncthreads();
    if (first + t < n)
        for (int f = 0; f < 3; f++) soa[f * row + first + t] = s[3 * t + f];
}
