/* The output: one line of JSON a document. Private to this folder. */
#ifndef SP_COVER_WRITE_H
#define SP_COVER_WRITE_H

#include "cover/components.h"
#include "cover/plan.h"

/* Writes a line for each document, in order of the input, and adds up *result:
 *
 *   {"record":N,"url":URL,"fetch_time_ms":T,"status":"kept","covers":M}
 *   {"record":N,"url":URL,"fetch_time_ms":T,"status":"dropped","by_record":N,"by_url":URL,
 *    "by_fetch_time_ms":T,"containment":0.93}
 *
 * with every measure that the relation names. Asks the relation once more of every pair written:
 * that it holds is asserted. */
enum sp_err sp_cover_write(const struct sp_cover_options *options,
                           const struct sp_documents *documents, const struct sp_relation *relation,
                           const struct sp_decisions *decisions, struct sp_cover_result *result,
                           const char **ret_message);

#endif
