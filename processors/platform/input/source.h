/* Reads one input file as a stream of decompressed bytes. Thread rule: one thread at a time. */
#ifndef SP_INPUT_SOURCE_H
#define SP_INPUT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct sp_source;

/* Whether what is read of it is gone, so that it can be opened only once: standard input ("-"), a
 * pipe, a socket, a terminal. */
bool sp_source_is_stream(const char *name);
/* Opens a file, a folder (folder.h), or standard input ("-"). SP_IO or SP_INVALID: the fault names
 * the file and says what to do. */
enum sp_err sp_source_open(const char *name, struct sp_source **ret_source, struct sp_fault *fault);
/* Opens a text or HTML file as if it were the only one in a folder. */
enum sp_err sp_source_open_text(const char *name, struct sp_source **ret_source,
                                struct sp_fault *fault);
/* NULL is allowed. */
void sp_source_close(struct sp_source *s);
/* Whether it is a regular file that is not compressed. */
bool sp_source_is_plain_file(const struct sp_source *s);
/* Whether it is read by a decoder. */
bool sp_source_is_packed(const struct sp_source *s);

/* Reads up to `cap` bytes into `to`; *ret_len is 0 at the end. SP_IO: reading failed. SP_TRUNCATED,
 * SP_MALFORMED: the compressed data is damaged here; the next call continues after the damage if it
 * can (gzip: at the next member), and otherwise reports the end. */
enum sp_err sp_source_read(struct sp_source *s, char *to, size_t cap, size_t *ret_len);

/* After SP_TRUNCATED and SP_MALFORMED: a sentence, a literal. Data that cannot be decoded here may
 * be intact; the sentence then says how to read it. */
const char *sp_source_why(const struct sp_source *s);

/* After SP_MALFORMED: whether bytes of the damaged member or frame were returned before. They are
 * decoded, but their checksum was not reached or is wrong, so any of them may be wrong. */
bool sp_source_is_tainted(const struct sp_source *s);

/* Whether the bytes of the last read begin a gzip member or Zstandard frame. This is a border that
 * the content of a file cannot imitate. */
bool sp_source_begins_member(const struct sp_source *s);

/* The size as stored, in bytes (0: not known), and the stored bytes read so far. */
/* From now on the kernel need not keep in its file cache what was read of a file. */
void sp_source_read_once(struct sp_source *s);
uint64_t sp_source_total_bytes(const struct sp_source *s);
uint64_t sp_source_read_bytes(const struct sp_source *s);

#endif
