/* Appending, flushing and cutting back one output; see output.h. */
#include "local/output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/names.h"

enum { BUFFER_BYTES = 1 << 16 };

static enum sp_err fail(const struct sp_output *out, const char *what, struct sp_fault *fault)
{
    const char *cause = errno ? strerror(errno) : "";
    return sp_fault_set(fault, SP_IO, "%s: %s%s%s", out->name, what, *cause ? ": " : "", cause);
}

enum sp_err sp_output_open(struct sp_output *out, const char *name, struct sp_fault *fault)
{
    *out = (struct sp_output){.name = name, .fd = -1};
    if (!name)
        return SP_OK;
    if (strcmp(name, "-") == 0) {
        out->fd = STDOUT_FILENO;
        return SP_OK;
    }
    struct stat st;
    out->fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (out->fd < 0 || fstat(out->fd, &st) != 0)
        return fail(out, "cannot be written; name another file or fix its permissions", fault);
    out->file = S_ISREG(st.st_mode);
    /* If the file system does not support locks (some network file systems), there is none. */
    if (out->file && flock(out->fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return fail(out,
                    "is being written by another samepage process, or is named twice; wait for it, "
                    "or name another file",
                    fault);
    /* The state is about to name this file, so its directory entry must survive a loss of power. */
    if (out->file && !sp_names_sync(name, SP_NAMES_LAST))
        return fail(out, "cannot be synced to the disk", fault);
    if (out->file) {
        out->length = (uint64_t)st.st_size;
        lseek(out->fd, 0, SEEK_END);
    }
    return SP_OK;
}

enum sp_err sp_output_cut(struct sp_output *out, const struct sp_output_known *known,
                          struct sp_fault *fault)
{
    if (!out->file || out->length == known->length)
        return SP_OK;
    if (out->length > known->length && known->ended)
        return sp_fault_set(fault, SP_IO,
                            "%s: another job has written to it since the last run with this state: "
                            "%" PRIu64 " bytes. Give each job an output of its own. To keep what "
                            "was written, name another output; to remove it: truncate -s %" PRIu64
                            " %s",
                            out->name, out->length - known->length, known->length, out->name);
    if (out->length < known->length) {
        errno = 0; /* no call has failed */
        return fail(
            out,
            "is shorter than it was at the last barrier; put it back, or start over with an "
            "empty --state directory",
            fault);
    }
    if (ftruncate(out->fd, (off_t)known->length) != 0)
        return fail(out, "cannot be truncated to the last barrier", fault);
    lseek(out->fd, 0, SEEK_END);
    out->length = known->length;
    return SP_OK;
}

enum sp_err sp_output_continue(struct sp_output *out, const char *name,
                               const struct sp_output_known *known, uint64_t *ret_before,
                               struct sp_fault *fault)
{
    enum sp_err err = sp_output_open(out, name, fault);
    if (err != SP_OK)
        return err;
    if (name && known->name && strcmp(name, known->name) == 0)
        return sp_output_cut(out, known, fault);
    *ret_before = out->length;
    return SP_OK;
}

enum sp_err sp_output_flush(struct sp_output *out, struct sp_fault *fault)
{
    size_t done = 0;
    while (out->name && done < out->buffer.len) {
        ssize_t n = write(out->fd, out->buffer.data + done, out->buffer.len - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    if (out->name && done < out->buffer.len) {
        int error = errno;
        out->buffer.len -= done; /* what is written is not written again */
        memmove(out->buffer.data, out->buffer.data + done, out->buffer.len);
        errno = error;
        return fail(out, "cannot be written", fault);
    }
    sp_buf_reset(&out->buffer);
    return SP_OK;
}

void sp_output_begin_sync(const struct sp_output *out)
{
    if (out->file)
        sync_file_range(out->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
}

enum sp_err sp_output_sync(const struct sp_output *out)
{
    return !out->file || fdatasync(out->fd) == 0 ? SP_OK : SP_IO;
}

enum sp_err sp_output_wrote(struct sp_output *out, size_t bytes, struct sp_fault *fault)
{
    out->length += bytes;
    return out->buffer.len >= BUFFER_BYTES ? sp_output_flush(out, fault) : SP_OK;
}

void sp_output_close(struct sp_output *out)
{
    if (out->name && out->fd > STDERR_FILENO)
        close(out->fd);
    sp_buf_done(&out->buffer);
    *out = (struct sp_output){.fd = -1};
}
