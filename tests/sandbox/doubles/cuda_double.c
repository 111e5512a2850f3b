/* A library with the name of NVIDIA's CUDA driver, for machines without a GPU. cuInit does what drivers 570 and later do
 * when they start: name a thread of theirs by /proc/self/task/<tid>/comm, make an eventfd and a file of memory, listen
 * on an abstract Unix socket, open the device files and read /sys. Any refusal is CUDA_ERROR_OPERATING_SYSTEM. What it
 * opens stays open, as after a real start. It computes nothing. The device file is ../dev/nvidia0 beside the library's
 * folder. Driver 580.159 was seen to do all of it, and to go on without the file of memory. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <libgen.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { REFUSED = 304 };
static const char *step = "";

static volatile pid_t listener;

static void *wait_for_events(void *unused) {
    listener = gettid();
    for (;;) pause();
    return unused;
}

/* Driver 580.159 does not call pthread_setname_np: it truncates the file, which is a right of its own in Landlock. */
static int name_thread(const char *name) {
    char path[64];
    int file;
    while (!listener) sched_yield();
    snprintf(path, sizeof path, "/proc/self/task/%d/comm", listener);
    if ((file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666)) < 0) return -1;
    return write(file, name, strlen(name)) < 0 || close(file);
}

static int open_device(void) {
    char path[4096];
    Dl_info here;
    if (!dladdr((void *)open_device, &here)) return -1;
    snprintf(path, sizeof path, "%s", here.dli_fname);
    strcat(dirname(path), "/../dev/nvidia0");
    return open(path, O_RDWR | O_CLOEXEC);
}

/* What was refused last, for tests. */
const char *cudaDoubleStep(void) { return step; }

int cuInit(unsigned int flags) {
    static int started;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    pthread_t thread;
    int memory, handle, length;
    step = "thread";
    if (flags || pthread_create(&thread, NULL, wait_for_events, NULL)) return REFUSED;
    step = "thread name";
    if (name_thread("cuda-EvtHandlr")) return REFUSED;
    step = "eventfd";
    if (eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) < 0) return REFUSED;
    step = "memfd";
    if ((memory = memfd_create("cuda", MFD_CLOEXEC)) < 0) return REFUSED;
    if (ftruncate(memory, 4096) || mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, memory, 0) == MAP_FAILED)
        return REFUSED;
    step = "socket";
    if ((handle = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) < 0) return REFUSED;
    step = "bind";
    length = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "cuda-uvmfd-%d-%d", started++, getpid());
    if (bind(handle, (void *)&address, sizeof(sa_family_t) + 1 + length)) return REFUSED;
    step = "listen";
    if (listen(handle, 1)) return REFUSED;
    step = "device";
    if (open_device() < 0) return REFUSED;
    step = "/sys";
    if (open("/sys/devices", O_RDONLY | O_DIRECTORY) < 0) return REFUSED;
    step = "/proc";
    if (open("/proc/self/task", O_RDONLY | O_DIRECTORY) < 0) return REFUSED;
    step = "";
    return 0;
}

int cuDriverGetVersion(int *version) {
    *version = 13000;
    return 0;
}
