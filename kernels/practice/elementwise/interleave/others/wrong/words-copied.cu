// Copies two samples at once, in the order that they have.
// rejected for: transposed_output
// leads to: order
extern "C" __global__ void interleave(const short* channels, short* frames, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        ((int*)frames)[i] = ((const int*)channels)[i];
    }
}
