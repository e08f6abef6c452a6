/* One record of the input becomes the message that starts a page's way through the tiers. */
#ifndef SP_RUN_RECORD_H
#define SP_RUN_RECORD_H

#include "input/input.h"
#include "protocol/message.h"
#include "text/text.h"

/* SP_OK with *ret_message NULL: the fetch says nothing of the page (a 5xx, a 304, an image). An
 * error: a dead letter, *ret_why a sentence. Scratch is reused from call to call. */
enum sp_err sp_record_message(struct sp_text *text, const struct sp_page_record *page,
                              struct sp_buf *scratch, struct sp_message **ret_message,
                              const char **ret_why);

#endif
