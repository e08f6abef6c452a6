/* One input file as a stream of decompressed bytes. */
#ifndef SP_INPUT_SOURCE_H
#define SP_INPUT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct sp_source;

/* "-": standard input. On failure *ret_message is a sentence (valid until the next call). */
enum sp_err sp_source_open(const char *name, struct sp_source **ret_source,
                           const char **ret_message);
void sp_source_close(struct sp_source *s);

/* Up to `cap` bytes into `to`; *ret_len 0 at the end. SP_IO: reading failed. SP_TRUNCATED,
 * SP_MALFORMED: the compressed data is damaged here; the next call goes on behind the damage where
 * it can (gzip: at the next member), else it is at the end. */
enum sp_err sp_source_read(struct sp_source *s, char *to, size_t cap, size_t *ret_len);

uint64_t sp_source_total_bytes(const struct sp_source *s); /* as stored; 0: not known */
uint64_t sp_source_read_bytes(const struct sp_source *s);

#endif
