// Reads the input as if it were sorted by field.
// rejected for: transposed_output
// leads to: in the wrong layout
// lockstep: block = 256
// lockstep: grid = (n + 255) / 256
extern "C" __global__ void aos_to_soa(const float *points, float *soa, int n)
{
    const int p = blockIdx.x * 256 + threadIdx.x;
    if (p < n)
        for (int f = 0; f < 3; f++) soa[f * n + p] = points[f * n + p];
}
