/* Threads for responses that may take long. The threads that hold the connections never wait, so a
 * health check gets its response whatever else is requested. Private to this folder. */
#ifndef SP_SERVE_DESK_H
#define SP_SERVE_DESK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fault.h"

/* Part of what a job is to its owner. */
struct sp_desk_job {
    struct sp_desk_job *next;
};

struct sp_desk;

/* `work` is called by one of the threads for each job, in the order of their arrival. SP_IO: the
 * threads could not be started. */
enum sp_err sp_desk_start(uint32_t threads, void (*work)(void *arg, struct sp_desk_job *job),
                          void *arg, struct sp_desk **ret_desk, struct sp_fault *fault);
/* By any thread; false: the desk is closed, and the job is still the caller's. The queue is as long
 * as its callers let it become: one job a connection. */
bool sp_desk_put(struct sp_desk *desk, struct sp_desk_job *job);
/* Returns when the last job is done. NULL is allowed; sp_desk_put may still be called, until
 * sp_desk_free. */
void sp_desk_close(struct sp_desk *desk);
void sp_desk_free(struct sp_desk *desk);

#endif
