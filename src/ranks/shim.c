/* The part of MPI that we use: messages of bytes between the ranks, on a communicator of our own.
 *
 * No two MPIs have the same binary interface, so this is compiled against the machine's own by `matlab/build-mex`, into
 * `libstencil_mpi.so` in the folder of the library, which opens it when ranks are first used (shim.rs). All code that
 * depends on MPI is here, and the protocol of the ranks is in Rust.
 *
 * Each function that returns an int returns MPI_SUCCESS, or MPI's error code, for `describe`. No function waits, except
 * `start`, which all ranks call. */

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

/* To be raised with each change of the interface below, here and in shim.rs. */
#define VERSION 1

struct facts {
    int rank, ranks;           /* in MPI_COMM_WORLD */
    int host_rank, host_ranks; /* among those that share this one's memory */
    int threads;               /* 0 single, 1 funneled, 2 serialized, 3 multiple */
    int ours;                  /* true if we started MPI, and so end it */
    int largest_tag;
    int cuda;          /* 1 if it accepts addresses on a GPU, 0 if not, -1 if it does not say */
    char library[256]; /* its name and version */
};

struct shim {
    int version;
    int (*start)(void (*leave)(void), struct facts* facts);
    int (*send)(const void* from, int bytes, int rank, int tag, uint64_t* request);
    int (*receive)(void* to, int bytes, int rank, int tag, uint64_t* request);
    int (*test)(uint64_t* request, int* done, int* bytes);
    int (*cancel)(uint64_t* request);
    int (*probe)(int rank, int tag, int* found, int* source, int* found_tag, int* bytes, uint64_t* message);
    int (*fetch)(void* to, int bytes, uint64_t* message, uint64_t* request);
    void (*describe)(int code, char* text, int room);
};

/* Results of `start` besides MPI's own codes. */
enum { ENDED = -1, THREADS = -2, NO_EXIT = -3 };

/* An int in MPICH, an address in Open MPI. */
_Static_assert(sizeof(MPI_Request) <= sizeof(uint64_t), "a request is larger than its place");
_Static_assert(sizeof(MPI_Message) <= sizeof(uint64_t), "a message is larger than its place");

/* Open MPI declares it in a header of its own, MPICH in mpi.h, and others not at all. */
extern int MPIX_Query_cuda_support(void) __attribute__((weak));

static MPI_Comm world = MPI_COMM_NULL;
static void (*leave_others)(void);
static pid_t process;
static int ours;

/* Run by MPI_Finalize before anything else, whoever calls that. */
static int before_end(MPI_Comm comm, int keyval, void* value, void* extra) {
    (void)comm, (void)keyval, (void)value, (void)extra;
    if (process == getpid() && leave_others) leave_others();
    return MPI_SUCCESS;
}

/* Run at the exit of a process that started MPI. A forked one inherits this handler, but not MPI. */
static void at_exit(void) {
    int ended = 1;
    if (process != getpid()) return;
    /* Before MPI is finalized: another thread of ours may still be in a call of it. */
    if (leave_others) leave_others();
    if (MPI_Finalized(&ended) == MPI_SUCCESS && !ended) MPI_Finalize();
}

static int level(int provided) {
    return provided == MPI_THREAD_MULTIPLE     ? 3
           : provided == MPI_THREAD_SERIALIZED ? 2
                                               : provided == MPI_THREAD_FUNNELED;
}

#define TRY(call)                               \
    do {                                        \
        int code_ = (call);                     \
        if (code_ != MPI_SUCCESS) return code_; \
    } while (0)

static int start(void (*leave)(void), struct facts* facts) {
    int begun = 0, ended = 0, provided = MPI_THREAD_SINGLE, key = MPI_KEYVAL_INVALID, known = 0, room = 0;
    int* largest = NULL;
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    MPI_Comm host = MPI_COMM_NULL;

    TRY(MPI_Initialized(&begun));
    TRY(MPI_Finalized(&ended));
    if (ended) return ENDED;
    process = getpid();
    if (begun)
        TRY(MPI_Query_thread(&provided));
    else {
        TRY(MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided));
        ours = 1;
        /* Registered after MPI's own handlers, and so run before them. */
        if (atexit(at_exit) != 0) return NO_EXIT;
        /* Errors without a communicator go to these. Ranks notify each other of errors; MPI would end them. */
        TRY(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
        TRY(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    }
    facts->ours = ours;
    facts->threads = level(provided);
    TRY(MPI_Get_library_version(library, &room));
    snprintf(facts->library, sizeof facts->library, "%s", library);
    facts->cuda = MPIX_Query_cuda_support ? MPIX_Query_cuda_support() != 0 : -1;
    /* Long calls have a thread of their own: calls come from several threads, though never at the same time. */
    if (facts->threads < 2) return THREADS;

    TRY(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    TRY(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN));
    TRY(MPI_Comm_rank(world, &facts->rank));
    TRY(MPI_Comm_size(world, &facts->ranks));
    TRY(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, facts->rank, MPI_INFO_NULL, &host));
    TRY(MPI_Comm_rank(host, &facts->host_rank));
    TRY(MPI_Comm_size(host, &facts->host_ranks));
    TRY(MPI_Comm_free(&host));
    TRY(MPI_Comm_get_attr(world, MPI_TAG_UB, &largest, &known));
    facts->largest_tag = known && largest ? *largest : 32767;

    leave_others = leave;
    TRY(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, before_end, &key, NULL));
    TRY(MPI_Comm_set_attr(MPI_COMM_SELF, key, NULL));
    return MPI_SUCCESS;
}

static int keep(int code, MPI_Request request, uint64_t* place) {
    *place = 0;
    memcpy(place, &request, sizeof request);
    return code;
}

static int send(const void* from, int bytes, int rank, int tag, uint64_t* place) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Isend(from, bytes, MPI_BYTE, rank, tag, world, &request);
    return keep(code, request, place);
}

static int receive(void* to, int bytes, int rank, int tag, uint64_t* place) {
    MPI_Request request = MPI_REQUEST_NULL;
    int code = MPI_Irecv(to, bytes, MPI_BYTE, rank, tag, world, &request);
    return keep(code, request, place);
}

/* Sets `bytes` to the number of received bytes, or -1 for a cancelled receive. A completed request is no longer valid,
 * even after an error. */
static int test(uint64_t* place, int* done, int* bytes) {
    MPI_Request request;
    MPI_Status status;
    int code, cancelled = 0;
    memcpy(&request, place, sizeof request);
    *done = 0;
    *bytes = 0;
    code = MPI_Test(&request, done, &status);
    /* Even after an error, which may invalidate the request. */
    keep(code, request, place);
    if (code != MPI_SUCCESS) *done = request == MPI_REQUEST_NULL;
    if (code != MPI_SUCCESS || !*done) return code;
    TRY(MPI_Test_cancelled(&status, &cancelled));
    if (cancelled)
        *bytes = -1;
    else
        TRY(MPI_Get_count(&status, MPI_BYTE, bytes));
    return MPI_SUCCESS;
}

static int cancel(uint64_t* place) {
    MPI_Request request;
    memcpy(&request, place, sizeof request);
    return MPI_Cancel(&request);
}

/* Probes for a message of any rank if `rank` is negative, and with any tag if `tag` is. A found message is not found by
 * later probes, and must be fetched. */
static int probe(int rank, int tag, int* found, int* source, int* found_tag, int* bytes, uint64_t* place) {
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    *found = 0;
    TRY(MPI_Improbe(rank < 0 ? MPI_ANY_SOURCE : rank, tag < 0 ? MPI_ANY_TAG : tag, world, found, &message, &status));
    if (!*found) return MPI_SUCCESS;
    *place = 0;
    memcpy(place, &message, sizeof message);
    *source = status.MPI_SOURCE;
    *found_tag = status.MPI_TAG;
    return MPI_Get_count(&status, MPI_BYTE, bytes);
}

static int fetch(void* to, int bytes, uint64_t* message_place, uint64_t* place) {
    MPI_Message message;
    MPI_Request request = MPI_REQUEST_NULL;
    int code;
    memcpy(&message, message_place, sizeof message);
    code = MPI_Imrecv(to, bytes, MPI_BYTE, &message, &request);
    return keep(code, request, place);
}

static void describe(int code, char* text, int room) {
    char words[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (MPI_Error_string(code, words, &length) != MPI_SUCCESS) snprintf(words, sizeof words, "error %d", code);
    snprintf(text, (size_t)room, "%s", words);
}

/* The only exported symbol. */
__attribute__((visibility("default"))) extern const struct shim stencil_mpi;
const struct shim stencil_mpi = {VERSION, start, send, receive, test, cancel, probe, fetch, describe};
