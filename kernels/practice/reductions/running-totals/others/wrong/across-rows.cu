// Takes the matrix for one long array: the carry goes on into the next row.
// rejected for: wrong_output
// leads to: of its own row
extern "C" __global__ void running_totals(const int* x, int* y, int rows, int n) {
    if (blockIdx.x || threadIdx.x) return;
    int sum = 0;
    for (int i = 0; i < rows * n; i++) y[i] = sum += x[i];
}
