/* Output files that are complete and without repetition after a crash: their length at the last
 * barrier is part of the state, and a run that continues cuts them back to it. If the last run
 * ended by itself, what is behind that length was written by somebody else, and is refused. */
#ifndef SP_LOCAL_OUTPUT_H
#define SP_LOCAL_OUTPUT_H

#include "base/bytes.h"
#include "base/fault.h"

struct sp_output {
    const char *name; /* NULL: closed, writing is free */
    int fd;
    struct sp_buf buffer;
    uint64_t length; /* with what is in the buffer */
    bool file;       /* can be cut back */
};

/* name "-": standard output; NULL: nothing is kept. */
enum sp_err sp_output_open(struct sp_output *out, const char *name, struct sp_fault *fault);

/* What a state knows of an output. */
struct sp_output_known {
    const char *name; /* NULL: none was written */
    uint64_t length;  /* at the last barrier */
    bool ended;       /* the run that wrote it ended at that barrier */
};

/* Cuts the file back to the known length. SP_IO if it is shorter, or if it is longer although the
 * last run has ended. */
enum sp_err sp_output_cut(struct sp_output *out, const struct sp_output_known *known,
                          struct sp_fault *fault);
/* Opens it, and cuts it back if it is the known output. It is appended to otherwise, and
 * *ret_before is its length. */
enum sp_err sp_output_continue(struct sp_output *out, const char *name,
                               const struct sp_output_known *known, uint64_t *ret_before,
                               struct sp_fault *fault);
/* Where a record is put together; call sp_output_wrote after appending to it. */
static inline struct sp_buf *sp_output_buffer(struct sp_output *out)
{
    return &out->buffer;
}
enum sp_err sp_output_wrote(struct sp_output *out, size_t bytes, struct sp_fault *fault);
/* Lets the disk begin to write what was flushed, and does not wait. A hint: nothing depends on it.
 */
void sp_output_begin_sync(const struct sp_output *out);
/* Brings what was flushed to the disk, so that it survives a loss of power. Another thread may
 * append and flush meanwhile. SP_IO. */
enum sp_err sp_output_sync(const struct sp_output *out);
enum sp_err sp_output_flush(struct sp_output *out, struct sp_fault *fault);
void sp_output_close(struct sp_output *out);

#endif
