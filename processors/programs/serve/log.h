/* A thread that follows the files to which a run writes its status events (`run -o`). It keeps the
 * positions of the events of each page, for its history, and passes on new events, for readers that
 * follow them. The positions of the latest SP_LOG_EVENTS are kept: 24 bytes each, and about 70 a
 * page. Private to this folder. Thread rule: any. */
#ifndef SP_SERVE_LOG_H
#define SP_SERVE_LOG_H

#include "base/bytes.h"
#include "base/fault.h"
#include "base/hash.h"
#include "serve/live.h"

enum { SP_LOG_EVENTS = 16 << 20 };

struct sp_log;

/* Files are uncompressed, named until the stop; they may grow. What is written to them from now on
 * goes to `live`. SP_IO if one cannot be read. */
enum sp_err sp_log_start(const char *const *files, size_t count, struct sp_live *live,
                         struct sp_log **ret_log, struct sp_fault *fault);
/* NULL is allowed. */
void sp_log_stop(struct sp_log *log);

/* Whether all that was in the files at the start has been read. */
bool sp_log_ready(struct sp_log *log);
/* Appends the page's last `most` events, the latest first, as elements of a JSON array; *ret_more:
 * there were earlier ones. SP_NOT_FOUND if no file has one, SP_IO if a file has changed. */
enum sp_err sp_log_events(struct sp_log *log, struct sp_id page, size_t most, struct sp_buf *out,
                          bool *ret_more);

#endif
