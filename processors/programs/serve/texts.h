/* The texts of pages, from the inputs of a run: an index from page to the line of its latest fetch
 * with content, made by a thread in the background. Private to this folder. Thread rule: any. */
#ifndef SP_SERVE_TEXTS_H
#define SP_SERVE_TEXTS_H

#include "base/bytes.h"
#include "base/fault.h"
#include "base/hash.h"

struct sp_texts;

/* Files are JSONL, uncompressed, named until the stop. SP_INVALID, SP_IO. */
enum sp_err sp_texts_start(const char *const *files, size_t count, struct sp_texts **ret_texts,
                           struct sp_fault *fault);
void sp_texts_stop(struct sp_texts *texts);

/* Appends the line; SP_NOT_FOUND where no file has content of this page, SP_BUSY where none was
 * found yet and files are still being read, SP_IO where the file has changed. */
enum sp_err sp_texts_line(struct sp_texts *texts, struct sp_id page, struct sp_buf *out);

#endif
