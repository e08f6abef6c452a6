/* See thread.h. */
#include "base/thread.h"

#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum sp_err sp_thread_start(pthread_t *ret_thread, void *(*run)(void *arg), void *arg,
                            struct sp_fault *fault)
{
    pthread_t thread;
    int code = pthread_create(&thread, NULL, run, arg);
    if (code != 0)
        return sp_fault_set(fault, SP_IO,
                            "no thread can be started: %s; raise the limits on threads and memory "
                            "(ulimit -u, ulimit -v, pids.max of the container), or ask for fewer "
                            "threads",
                            strerror(code));
    *ret_thread = thread;
    return SP_OK;
}

void sp_thread_background(void)
{
    id_t mine = (id_t)gettid(); /* Linux has a nice value for each thread */
    setpriority(PRIO_PROCESS, mine, getpriority(PRIO_PROCESS, mine) + SP_THREAD_BACKGROUND_NICE);
}
