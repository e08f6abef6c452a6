/* One input file as a stream of decompressed bytes. */
#ifndef SP_INPUT_SOURCE_H
#define SP_INPUT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct sp_source;

/* "-": standard input. The fault names the file and says what to do. */
enum sp_err sp_source_open(const char *name, struct sp_source **ret_source, struct sp_fault *fault);
/* A file of text or HTML as the only one of a folder (folder.h). */
enum sp_err sp_source_open_text(const char *name, struct sp_source **ret_source,
                                struct sp_fault *fault);
void sp_source_close(struct sp_source *s);
/* A file that is not compressed; neither a folder nor standard input. */
bool sp_source_is_plain_file(const struct sp_source *s);

/* Up to `cap` bytes into `to`; *ret_len 0 at the end. SP_IO: reading failed. SP_TRUNCATED,
 * SP_MALFORMED: the compressed data is damaged here; the next call goes on behind the damage where
 * it can (gzip: at the next member), else it is at the end. */
enum sp_err sp_source_read(struct sp_source *s, char *to, size_t cap, size_t *ret_len);

/* Whether the bytes of the last read begin a gzip member or Zstandard frame: a border that the
 * content of a file cannot forge. */
bool sp_source_begins_member(const struct sp_source *s);

uint64_t sp_source_total_bytes(const struct sp_source *s); /* as stored; 0: not known */
uint64_t sp_source_read_bytes(const struct sp_source *s);

#endif
