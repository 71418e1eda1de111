// Puts each key back where it came from. A NaN marks a key that is smaller than the one before it.
extern "C" __global__ void put_back(const float* sorted, const int* origin, float* y, int n) {
    size_t row = (size_t)blockIdx.x * n;
    for (int k = threadIdx.x; k < n; k += blockDim.x) {
        float key = sorted[row + k];
        bool ascends = k == 0 || sorted[row + k - 1] <= key;
        int place = origin[row + k];
        if (place >= 0 && place < n) atomicExch(&y[row + place], ascends ? key : NAN);
    }
}
