/* The texts of a few fetches of a trace, for examples in a report: they are read from the files of
 * the trace once more (again.h). */
#ifndef SP_EVALUATE_TEXTS_H
#define SP_EVALUATE_TEXTS_H

#include "evaluate/trace.h"
#include "text/text.h"

/* All zero: none are wanted. */
struct sp_trace_texts {
    uint32_t *fetches; /* ascending, each once */
    struct sp_buf *texts;
    uint32_t count;
    uint32_t cap;
};

void sp_trace_texts_want(struct sp_trace_texts *t, uint32_t fetch);
/* Reads what is wanted; call it once. SP_IO as sp_trace_again. */
enum sp_err sp_trace_texts_read(struct sp_trace_texts *t, const struct sp_trace *trace,
                                const struct sp_text_options *options, struct sp_fault *fault);
/* The text of a fetch that was wanted. Valid until the end of the texts. */
struct sp_view sp_trace_texts_of(const struct sp_trace_texts *t, uint32_t fetch);
void sp_trace_texts_done(struct sp_trace_texts *t);

#endif
