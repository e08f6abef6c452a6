/* Folding of text that is not all ASCII: see words.h for what is folded how. Thread rule: one
 * thread at a time for each. */
#ifndef SP_TEXT_FOLD_H
#define SP_TEXT_FOLD_H

#include "base/bytes.h"

struct sp_fold;

struct sp_fold *sp_fold_new(void);
void sp_fold_free(struct sp_fold *f);

/* Appends text in a form where every byte of 0x80 and more belongs to a word: code points
 * that are no letters, digits or marks become a space, sentence ends '.', letters are
 * folded, and characters that are words by themselves are set apart by spaces.
 * ASCII is copied as it is. */
void sp_fold_text(struct sp_fold *f, struct sp_view text, struct sp_buf *out);

#endif
