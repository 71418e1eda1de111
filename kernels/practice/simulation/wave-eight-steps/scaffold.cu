// TODO: eight steps of the wave. So far time stands still.
extern "C" __global__ void eight_steps(const float* before, const float* now, float* before_out, float* now_out, int n) {
    int i = blockIdx.x * 240 + threadIdx.x;
    if (threadIdx.x >= 240 || i >= n) return;
    before_out[i] = before[i];
    now_out[i] = now[i];
}
