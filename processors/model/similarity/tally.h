/* Adds up rows of bits: which columns have at least so many? For 512 columns at once. No state; any
 * thread. */
#ifndef SP_SIMILARITY_TALLY_H
#define SP_SIMILARITY_TALLY_H

#include <stdint.h>

enum { SP_TALLY_WORDS = 8 }; /* that are added up at once */

/* Words of rows; both ends are multiples of SP_TALLY_WORDS. */
struct sp_tally_range {
    uint32_t from;
    uint32_t end;
};

/* Sets the words of the range in ret_words: which bits are set in at least least[i] of the rows,
 * for each word i. */
typedef void sp_tally_function(const uint64_t *const *rows, uint32_t row_count,
                               struct sp_tally_range range, const uint32_t *least,
                               uint64_t *ret_words);

sp_tally_function sp_tally;

/* The same with the instructions of one kind of processor, which sp_tally chooses. */
enum sp_tally_kind { SP_TALLY_PORTABLE, SP_TALLY_AVX2, SP_TALLY_AVX512, SP_TALLY_KINDS };
/* NULL: this processor does not have them. */
sp_tally_function *sp_tally_of(enum sp_tally_kind kind);

#endif
