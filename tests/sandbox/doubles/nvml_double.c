/* A library with NVML's names and layouts, for machines without a GPU: two cards, the second in MIG mode with
 * as many slices as NVML_DOUBLE_SLICES says (0 to 2; the first of three places stays empty). What is in use is read, in MB, from the file that NVML_DOUBLE names; where it names none that can be read, the GPU is lost. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct { unsigned int index; } *device_t;
typedef struct { unsigned long long total, free, used; } memory_t;
typedef struct { device_t device; unsigned long long kind, data; unsigned int instance, compute_instance; } event_t;

static struct { unsigned int index; } cards[4] = {{0}, {1}, {2}, {3}}; /* the last two are slices */
static int slices(void) { const char *given = getenv("NVML_DOUBLE_SLICES"); return given ? atoi(given) : 0; }
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
    if (device->index > 1) snprintf(text, length, "Double 1 MIG 1g.6gb");
    else snprintf(text, length, "Double %u", device->index);
    return 0;
}
int nvmlDeviceGetUUID(device_t device, char *text, unsigned int length) {
    snprintf(text, length, "%s-0000000%u", device->index > 1 ? "MIG" : "GPU", device->index);
    return 0;
}
int nvmlDeviceGetMigMode(device_t device, unsigned int *now, unsigned int *later) {
    if (device->index == 0) return 3; /* it knows no such mode: Not Supported */
    *now = *later = 1;
    return 0;
}
int nvmlDeviceGetMaxMigDeviceCount(device_t device, unsigned int *count) { *count = device->index == 1 ? 3 : 0; return 0; }
int nvmlDeviceGetMigDeviceHandleByIndex(device_t device, unsigned int index, device_t *slice) {
    if (device->index != 1 || index == 0 || (int)index > slices()) return 6; /* Not Found */
    *slice = (device_t)&cards[1 + index];
    return 0;
}
int nvmlDeviceGetGpuInstanceId(device_t device, unsigned int *id) { *id = 5 + device->index; return 0; }
int nvmlDeviceGetComputeInstanceId(device_t device, unsigned int *id) { *id = 0; return device->index > 1 ? 0 : 3; }
int nvmlDeviceGetHandleByUUID(const char *uuid, device_t *device) {
    unsigned int index = (unsigned int)(uuid[strlen(uuid) - 1] - '0');
    *device = (device_t)&cards[index < 4 ? index : 0];
    return index < 4 && (int)index < 2 + slices() ? 0 : 6;
}
int nvmlDeviceGetMemoryInfo(device_t device, memory_t *memory) {
    const char *path = getenv("NVML_DOUBLE");
    FILE *file = path ? fopen(path, "r") : NULL;
    unsigned long long used = 0;
    if (path && !file) return 15;
    if (file && fscanf(file, "%llu", &used) != 1) used = 0;
    if (file) fclose(file);
    memory->total = (device->index > 1 ? 6144ull : 24576ull) << 20;
    memory->used = used << 20;
    memory->free = memory->total - memory->used;
    return 0;
}
/* Events are read from the file that NVML_DOUBLE_EVENTS names, one "kind data" a line; each set reads on where it was. */
typedef struct { long at; int registered; } *events_t;
int nvmlEventSetCreate(events_t *set) { *set = calloc(1, sizeof(**set)); return 0; }
int nvmlDeviceRegisterEvents(device_t device, unsigned long long kinds, events_t set) {
    set->registered = device->index < 2 && kinds == 10;
    return set->registered ? 0 : 2;
}
int nvmlEventSetWait_v2(events_t set, event_t *event, unsigned int milliseconds) {
    const char *path = getenv("NVML_DOUBLE_EVENTS");
    FILE *file = path && set->registered && milliseconds == 0 ? fopen(path, "r") : NULL;
    int found = 0;
    if (!file) return 10;
    fseek(file, set->at, SEEK_SET);
    memset(event, 0, sizeof(*event));
    found = fscanf(file, "%llu %llu", &event->kind, &event->data);
    set->at = ftell(file);
    fclose(file);
    return found == 2 ? 0 : 10;
}
