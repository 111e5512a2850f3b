/* A library with NVML's names and layouts, for machines without a GPU: two cards, the second in MIG mode. What is in
 * use is read, in MB, from the file that NVML_DOUBLE names; where it names none that can be read, the GPU is lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { unsigned int index; } *device_t;
typedef struct { unsigned long long total, free, used; } memory_t;

static struct { unsigned int index; } cards[2] = {{0}, {1}};
static int started;

int nvmlInit_v2(void) { started++; return getenv("NVML_DOUBLE_FAILS") ? 9 : 0; }
int nvmlShutdown(void) { started--; return 0; }
const char *nvmlErrorString(int status) { return status == 9 ? "Driver Not Loaded" : status == 15 ? "GPU is lost" : "?"; }
int nvmlSystemGetDriverVersion(char *text, unsigned int length) { snprintf(text, length, "999.1"); return started ? 0 : 1; }
int nvmlSystemGetCudaDriverVersion_v2(int *version) {
    const char *given = getenv("NVML_DOUBLE_CUDA");
    *version = given ? atoi(given) : 13000;
    return started ? 0 : 1;
}
int nvmlDeviceGetCount_v2(unsigned int *count) { *count = 2; return started ? 0 : 1; }
int nvmlDeviceGetHandleByIndex_v2(unsigned int index, device_t *device) {
    *device = (device_t)&cards[index];
    return index < 2 ? 0 : 2;
}
int nvmlDeviceGetMinorNumber(device_t device, unsigned int *minor) { *minor = 4 + device->index; return 0; }
int nvmlDeviceGetName(device_t device, char *text, unsigned int length) {
    snprintf(text, length, "Double %u", device->index);
    return 0;
}
int nvmlDeviceGetUUID(device_t device, char *text, unsigned int length) {
    snprintf(text, length, "GPU-0000000%u", device->index);
    return 0;
}
int nvmlDeviceGetMigMode(device_t device, unsigned int *now, unsigned int *later) {
    if (device->index == 0) return 3; /* it knows no such mode: Not Supported */
    *now = *later = 1;
    return 0;
}
int nvmlDeviceGetMemoryInfo(device_t device, memory_t *memory) {
    const char *path = getenv("NVML_DOUBLE");
    FILE *file = path ? fopen(path, "r") : NULL;
    unsigned long long used = 0;
    if (path && !file) return 15;
    if (file && fscanf(file, "%llu", &used) != 1) used = 0;
    if (file) fclose(file);
    memory->total = 24576ull << 20;
    memory->used = used << 20;
    memory->free = memory->total - memory->used;
    return 0;
}
