// The loop begins at column 0 although the first score is in the sum already.
// rejected for: precision
// leads to: Do the weights of a row add up to 1
// One thread a row, maximum and sum in one pass.
// lockstep: block = 64
// lockstep: grid = ceil_div(rows, 64)
extern "C" __global__ void softmax_rows(const float* x, float* y, float* lse, int rows, int columns)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows) return;
    const float* in = x + (size_t)row * columns;
    float m = in[0], l = 1.0f;
    for (int c = 0; c < columns; c++) {
        float v = in[c];
        if (v > m) {
            l = l * expf(m - v) + 1.0f;
            m = v;
        } else {
            l += expf(v - m);
        }
    }
    for (int c = 0; c < columns; c++) y[(size_t)row * columns + c] = expf(in[c] - m) / l;
    lse[row] = m + logf(l);
}
