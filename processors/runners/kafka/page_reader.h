/* Turns messages of the topic of pages into messages of the signature stage; each thread has a
 * reader of its own. Private to this folder. */
#ifndef SP_KAFKA_PAGE_READER_H
#define SP_KAFKA_PAGE_READER_H

#include "kafka/stages.h"

struct sp_page_reader;

/* The options are borrowed until the close. Never NULL. */
struct sp_page_reader *sp_page_reader_new(const struct sp_stage_options *options);
void sp_page_reader_free(struct sp_page_reader *reader);
/* Reads a page, or a deletion (`value` without data). The caller owns the message. Errors are those
 * of `step` (worker.h); then there is no message. Thread rule: one thread for each reader; with a
 * schema registry, one for all. */
enum sp_err sp_page_reader_read(struct sp_page_reader *reader, struct sp_view key,
                                struct sp_view value, struct sp_worker_reading *ret_reading);

#endif
