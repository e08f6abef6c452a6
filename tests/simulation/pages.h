/* Signatures of made-up pages: `words` consecutive items from `first` on, so that neighbours
 * overlap. */
#ifndef SP_TESTS_SIMULATION_PAGES_H
#define SP_TESTS_SIMULATION_PAGES_H

#include "page/method.h"
#include "page/signature.h"

/* Of shingles only, without a text. Pages of two languages, if those are not 0, share none. */
struct sp_signature *page_by_items(uint32_t first, uint32_t words, uint16_t language);
/* For any method, from a text without a language. */
struct sp_signature *page_by_builder(enum sp_method method, uint32_t first, uint32_t words);

#endif
