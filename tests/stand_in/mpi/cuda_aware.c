/* An MPI that takes addresses on a GPU, made of one that does not: loaded ahead of it (LD_PRELOAD), it copies such
 * messages through the host's memory, by the process's driver.
 *
 * It copies as an MPI does: a send reads when the call is made, in no stream of the caller's, and a receive writes when a
 * test finds the message. So it shows sends of data still being computed, receives into memory still in use, and calls
 * without the memory's context. It knows the calls of src/ranks/shim.c only.
 *
 * At the end each rank says how many messages lay on a GPU. */

#include <dlfcn.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* A message that lies on a GPU, on its way. */
struct message {
    MPI_Request request;
    char* host;
    uint64_t device; /* where it is to go; 0 of one that is sent */
    struct message* next;
};

static struct message* messages;
static long sent, received;

static void* driver(const char* name) {
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    return library ? dlsym(library, name) : NULL;
}

/* True for an address on a GPU; negative if the driver does not know. At the end of a process the driver is gone, and so
 * are arrays on a GPU. */
static int on_device(const void* address) {
    enum { MEMORY_TYPE = 2, DEVICE = 2, INVALID_VALUE = 1, DEINITIALIZED = 4 };
    int (*attribute)(void*, int, uint64_t) = (int (*)(void*, int, uint64_t))driver("cuPointerGetAttribute");
    unsigned int type = 0;
    int status = attribute ? attribute(&type, MEMORY_TYPE, (uintptr_t)address) : INVALID_VALUE;
    return status == 0 ? type == DEVICE : status == INVALID_VALUE || status == DEINITIALIZED ? 0 : -1;
}

static void keep(MPI_Request request, char* host, uint64_t device) {
    struct message* message = malloc(sizeof *message);
    *message = (struct message){request, host, device, messages};
    messages = message;
}

int MPIX_Query_cuda_support(void) { return 1; }

int MPI_Isend(const void* from, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
    int place = type == MPI_BYTE ? on_device(from) : 0;
    if (place < 0) return MPI_ERR_BUFFER;
    if (place == 0) return PMPI_Isend(from, count, type, rank, tag, comm, request);
    int (*copy)(void*, uint64_t, size_t) = (int (*)(void*, uint64_t, size_t))driver("cuMemcpyDtoH_v2");
    char* host = malloc(count + 1);
    if (copy(host, (uintptr_t)from, count) != 0) return MPI_ERR_BUFFER;
    int code = PMPI_Isend(host, count, type, rank, tag, comm, request);
    keep(*request, host, 0);
    ++sent;
    return code;
}

int MPI_Irecv(void* to, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
    int place = type == MPI_BYTE ? on_device(to) : 0;
    if (place < 0) return MPI_ERR_BUFFER;
    if (place == 0) return PMPI_Irecv(to, count, type, rank, tag, comm, request);
    char* host = malloc(count + 1);
    int code = PMPI_Irecv(host, count, type, rank, tag, comm, request);
    keep(*request, host, (uintptr_t)to);
    return code;
}

int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
    MPI_Request before = *request;
    int cancelled = 0, count = 0, code = PMPI_Test(request, done, status);
    if (code != MPI_SUCCESS || !*done) return code;
    /* Sends that are over immediately may share their request: any of them will do. */
    struct message** place = &messages;
    while (*place && (*place)->request != before) place = &(*place)->next;
    struct message* message = *place;
    if (!message) return code;
    *place = message->next;
    if (message->device) {
        int (*copy)(uint64_t, const void*, size_t) = (int (*)(uint64_t, const void*, size_t))driver("cuMemcpyHtoD_v2");
        PMPI_Test_cancelled(status, &cancelled);
        PMPI_Get_count(status, MPI_BYTE, &count);
        if (!cancelled && count > 0) {
            int (*wait)(void*) = (int (*)(void*))driver("cuStreamSynchronize");
            /* The driver has read the host's memory then, and may not have written the device's. */
            if (copy(message->device, message->host, count) != 0 || wait(NULL) != 0) code = MPI_ERR_BUFFER;
        }
        received += !cancelled;
    }
    free(message->host);
    free(message);
    return code;
}

int MPI_Finalize(void) {
    int rank = -1;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    printf("<rank %d: %ld messages from a GPU, %ld to one>\n", rank, sent, received);
    fflush(stdout);
    return PMPI_Finalize();
}
