// The layer's bias: numbers between -2 and 2, in steps of 1/64.
extern "C" __global__ void make_bias(float* bias, int n)
{
    const int j = blockIdx.x * blockDim.x + threadIdx.x;
    if (j < n) {
        bias[j] = float((unsigned(j) * 2654435761u >> 24)) / 64.0f - 2.0f;
    }
}
