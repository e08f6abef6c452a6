/* Signatures of made-up pages. */
#ifndef SP_TESTS_SIMULATION_PAGES_H
#define SP_TESTS_SIMULATION_PAGES_H

#include "page/method.h"
#include "page/signature.h"

/* Of these shingles, which are sorted in place; of them it keeps the `kept` smallest. All of them
 * count for dimension 0. */
struct sp_signature *page_by_shingles(uint32_t *shingles, uint32_t count, uint32_t kept,
                                      struct sp_id content);

/* Of `words` consecutive items from `first` on, so that neighbours overlap: of shingles only,
 * without a text. Pages of two languages, if those are not 0, share none. */
struct sp_signature *page_by_items(uint32_t first, uint32_t words, uint16_t language);
/* The same for any method, from a text without a language. */
struct sp_signature *page_by_builder(enum sp_method method, uint32_t first, uint32_t words);

#endif
