/* Libraries that do not look at what malloc returns, and constructors that run before main, end
 * with SIGSEGV if the address space that a process may have (ulimit -v) is full; librdkafka ends
 * with SIGABRT if it gets no thread. This says so, and ends the process as lack of memory does. Any
 * other fault ends the process as it would without this file.
 *
 * A failure may show later, when there is room again: a thread of jemalloc's has no arena. So the
 * question is whether the address space was ever full. */
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/resource.h>
#include <threads.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/new_handler.h"

/* What was asked for in vain is not part of the peak: stacks of threads, 8 MiB, and what jemalloc
 * asks for at once. */
enum { ASKED_BYTES = 64 << 20, STACK_BYTES = 1 << 16 };

/* The most address space that the process had, in KiB; 0: not known. */
static rlim_t peak(void)
{
    static const char name[] = "VmPeak:";
    char text[1024];
    rlim_t kib = 0;
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[n > 0 ? n : 0] = 0;
    const char *at = strstr(text, name);
    for (at = at ? at + strlen(name) : ""; *at == ' ' || *at == '\t';)
        at++;
    for (; *at >= '0' && *at <= '9'; at++)
        kib = 10 * kib + (rlim_t)(*at - '0');
    return kib;
}

static bool was_full(rlim_t limit)
{
    rlim_t most = peak();
    return limit != RLIM_INFINITY && most > 0 && (most << 10) + ASKED_BYTES > limit;
}

/* Functions that allocate, such as printf may, cannot be called here. */
static char *put_number(char *to, rlim_t number)
{
    char digits[24];
    size_t count = 0;
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0)
        *to++ = digits[--count];
    return to;
}

static void on_fault(int number)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || !was_full(limit.rlim_cur)) {
        signal(number, SIG_DFL); /* the instruction is repeated when this returns; so is abort */
        return;
    }
    char text[320]; /* in one piece, because other threads may write as well */
    char *end = stpcpy(text, "samepage: out of memory: a library got none, because the process may "
                             "use only ");
    end = put_number(end, limit.rlim_cur >> 20);
    end = stpcpy(end, " MiB of address space; raise the limit (ulimit -v), or lower cache.bytes "
                      "and threads. The state is as the last barrier left it: run again.\n");
    ssize_t written = write(STDERR_FILENO, text, (size_t)(end - text));
    (void)written; /* if it fails, there is nobody to tell */
    sp_cli_end_for_lack();
}

static void watch_faults(void)
{
    static char stack[STACK_BYTES]; /* the stack itself may be what cannot grow */
    static const stack_t aside = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_ONSTACK};
    sigaltstack(&aside, NULL);
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGABRT, &action, NULL);
}

/* The loader calls these before the constructors of libraries. */
__attribute__((section(".preinit_array"), used)) static void (*const first)(void) = watch_faults;

/* librdkafka starts its threads with this, and a program's own function has precedence over the C
 * library's. If rd_kafka_new cannot start the main thread of a handle, it waits for another one,
 * which nobody has told to end; without the thread of a broker, it fails an assertion. It also
 * blocks all signals in its threads, and a fault whose signal is blocked ends the process without a
 * call of the handler. */
__attribute__((visibility("default"))) int thrd_create(thrd_t *ret_thread, thrd_start_t run,
                                                       void *arg)
{
    int (*start)(thrd_t *, thrd_start_t, void *);
    *(void **)&start = dlsym(RTLD_NEXT, "thrd_create");
    sigset_t faults;
    sigemptyset(&faults);
    sigaddset(&faults, SIGSEGV);
    pthread_sigmask(SIG_UNBLOCK, &faults, NULL); /* the new thread inherits what is blocked */
    int code = start(ret_thread, run, arg);
    if (code != thrd_success)
        sp_cli_no_threads();
    return code;
}
