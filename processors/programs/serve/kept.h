/* Texts in a file without a name: written one after the other, each compressed, found again by
 * their place. Private to this folder. Thread rule: one thread puts, any get. */
#ifndef SP_SERVE_KEPT_H
#define SP_SERVE_KEPT_H

#include "base/bytes.h"
#include "base/fault.h"

struct sp_kept;

/* In TMPDIR (or /tmp), where it needs at most `most_bytes`. SP_IO. */
enum sp_err sp_kept_open(uint64_t most_bytes, struct sp_kept **ret_kept, struct sp_fault *fault);
/* NULL is allowed. */
void sp_kept_close(struct sp_kept *s);
/* SP_TOO_LARGE: there is no room for it; SP_IO. */
enum sp_err sp_kept_put(struct sp_kept *s, struct sp_view text, uint64_t *ret_place);
/* Appends the text of that place. SP_IO. */
enum sp_err sp_kept_get(const struct sp_kept *s, uint64_t place, struct sp_buf *out);

#endif
