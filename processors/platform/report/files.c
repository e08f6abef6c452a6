/* The files of a report. The first failure is kept until the report is closed; after it nothing
 * more is written. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/mem.h"
#include "report/internal.h"

static void fail(struct sp_report *r, const char *file)
{
    if (r->err != SP_OK)
        return;
    r->err = sp_fault_set(&r->fault, SP_IO,
                          "%s/%s: cannot be written: %s; name a directory that can be written",
                          r->directory, file, strerror(errno));
}

void sp_report_fail(struct sp_report *r, enum sp_err err, const char *plot)
{
    if (r->err != SP_OK)
        return;
    r->err =
        sp_fault_set(&r->fault, err, "the plot %s cannot be drawn: %s", plot, sp_err_text(err));
}

static bool write_file(const char *path, const struct sp_buf *content)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    bool good = content->len == 0 || fwrite(content->data, 1, content->len, file) == content->len;
    return fclose(file) == 0 && good;
}

static char *path_of(const struct sp_report *r, const char *name, const char *suffix)
{
    struct sp_buf path = {0};
    sp_buf_put_str(&path, r->directory);
    sp_buf_put_u8(&path, '/');
    sp_buf_put_str(&path, name);
    sp_buf_put_str(&path, suffix);
    sp_buf_put_u8(&path, 0);
    return path.data;
}

void sp_report_file(struct sp_report *r, const char *name, const char *suffix,
                    const struct sp_buf *content)
{
    if (r->err != SP_OK)
        return;
    char *path = path_of(r, name, suffix);
    if (!write_file(path, content))
        fail(r, name);
    sp_free(path);
}

void sp_report_check_name(const char *name)
{
    SP_ASSERT(*name);
    for (const char *c = name; *c; c++)
        SP_ASSERT((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '-');
}

void sp_report_file_finish(struct sp_report *r, const char *name, const char *suffix)
{
    if (r->err != SP_OK)
        return;
    char *unfinished = path_of(r, name, suffix), *path = path_of(r, name, "");
    if (rename(unfinished, path) != 0)
        fail(r, name);
    sp_free(unfinished);
    sp_free(path);
}
