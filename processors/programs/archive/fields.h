/* Changes a record's header to describe what is stored, and restores it. Private to this folder.
 *
 * A changed header is the original one with some values replaced and some lines left out, followed
 * by
 *
 *   Samepage-Version: 1
 *   Samepage-Was: 1=WARC-Type: response      line 1 (the version is line 0) was this one
 *   Samepage-Was: 7+WARC-Block-Digest: ...   line 7 was this one, and is left out
 *   ...                                      and other lines, which the original does not have
 *
 * Other readers find the remaining fields unchanged. */
#ifndef SP_ARCHIVE_FIELDS_H
#define SP_ARCHIVE_FIELDS_H

#include "base/bytes.h"

struct sp_field_change {
    const char *name;
    const char *value; /* NULL: the line is left out */
};

/* Appends the changed header to out, followed by `added` (whole lines). Returns false and appends
 * nothing if the original could not be restored, because its form is not supported. */
bool sp_fields_change(struct sp_view header, const struct sp_field_change *changes, size_t count,
                      struct sp_view added, struct sp_buf *out);

/* Whether sp_fields_change made this header. */
bool sp_fields_changed(struct sp_view header);

/* Appends the original. Returns false and appends nothing if sp_fields_change did not make it. */
bool sp_fields_restore(struct sp_view changed, struct sp_buf *out);

/* The first field of that name after Samepage-Version; empty if there is none. */
struct sp_view sp_fields_own(struct sp_view changed, const char *name);

#endif
