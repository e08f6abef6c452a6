/* Reads contents of a trace again, because a trace in memory holds signatures only. Private to this
 * folder and its tests. */
#ifndef SP_EVALUATE_AGAIN_H
#define SP_EVALUATE_AGAIN_H

#include "evaluate/trace.h"

/* Reads the contents of these fetches (ascending, all with content) again: `each` gets the number
 * in `fetches` and the record, valid until it returns. Reads the files up to there: for passes and
 * examples, not for loops. SP_IO if the input was a pipe, or a file has changed. */
enum sp_err sp_trace_again(const struct sp_trace *t, const uint32_t *fetches, size_t count,
                           void (*each)(void *arg, size_t number,
                                        const struct sp_page_record *page),
                           void *arg, struct sp_fault *fault);

#endif
