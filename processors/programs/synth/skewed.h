/* A skewed crawl as lines: the streams of plan.h, mixed and written out. Private to this folder. */
#ifndef SP_SYNTH_SKEWED_H
#define SP_SYNTH_SKEWED_H

#include "synth/synth.h"
#include "synth/words.h"

struct sp_skewed;

/* Never NULL. The words are borrowed. */
struct sp_skewed *sp_skewed_new(const struct sp_synth_options *options,
                                const struct sp_vocabulary *words);
void sp_skewed_free(struct sp_skewed *s);

/* As sp_synth_next. O(kinds) and the length of the page; O(log pages) if it is one of `zipf`. */
bool sp_skewed_next(struct sp_skewed *s, struct sp_buf *line, struct sp_buf *truth);

#endif
