// Takes activation and bias off again, so that the bare product can be judged. Dividing by 1/4 is exact.
extern "C" __global__ void take_off(const float* bias, float* y, int m, int n)
{
    const int column = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y;
    if (row < m && column < n) {
        const float value = y[(long long)row * n + column];
        y[(long long)row * n + column] = (value < 0.0f ? 4.0f * value : value) - bias[column];
    }
}
