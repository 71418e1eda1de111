// One thread for each column.
// lockstep: block = 64
// lockstep: grid = ceil_div(n, block_x)
extern "C" __global__ void quantize_columns(const float* x, signed char* codes, float* scale, int m, int n) {
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (column >= n) return;
    float most = 0;
    for (int row = 0; row < m; row++) most = fmaxf(most, fabsf(x[row * n + column]));
    scale[column] = most / 127;
    for (int row = 0; row < m; row++) codes[row * n + column] = most > 0 ? __float2int_rn(x[row * n + column] / scale[column]) : 0;
}
