/* The texts of pages, from the inputs of a run: an index from page to its latest fetch with
 * content, made by a thread in the background. Lines of an uncompressed JSONL file are read again
 * from that file; texts of all other inputs, which cannot be read from the middle, are kept in a
 * temporary file (kept.h). Private to this folder. Thread rule: any. */
#ifndef SP_SERVE_TEXTS_H
#define SP_SERVE_TEXTS_H

#include "base/bytes.h"
#include "base/fault.h"
#include "base/hash.h"
#include "text/text.h"

struct sp_texts;

enum {
    SP_TEXTS_SHOWN_BYTES = 512 << 10, /* of one text */
    SP_TEXTS_KEPT_GIB = 8             /* of all texts, compressed, that have to be kept */
};

/* Files as for a run, named until the stop. `text`: how texts are taken from pages. SP_INVALID,
 * SP_IO. */
enum sp_err sp_texts_start(const char *const *files, size_t count,
                           const struct sp_text_options *text, struct sp_texts **ret_texts,
                           struct sp_fault *fault);
void sp_texts_stop(struct sp_texts *texts);

struct sp_found_text {
    bool is_line; /* a line of a JSONL file, with the page as it was crawled; else its text */
    bool cut;     /* after SP_TEXTS_SHOWN_BYTES */
    int64_t fetch_time_ms;
};

/* Appends it. SP_NOT_FOUND if no file has content of this page, SP_BUSY if none was found yet
 * and files are still being read, SP_TOO_LARGE if there was no more room for texts, SP_IO if
 * a file has changed. */
enum sp_err sp_texts_get(struct sp_texts *texts, struct sp_id page, struct sp_buf *out,
                         struct sp_found_text *ret_found);

#endif
