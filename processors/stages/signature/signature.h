/* One record of the input becomes the message that starts a page's way through the tiers. */
#ifndef SP_SIGNATURE_SIGNATURE_H
#define SP_SIGNATURE_SIGNATURE_H

#include "input/input.h"
#include "page/message.h"
#include "text/text.h"

/* Fetch times are before this one, in the year 2248: a later one is damage, and would be newer than
 * any fetch of its page that is to come. */
#define SP_FETCH_TIME_END (1ll << 43)

/* SP_OK with *ret_message NULL: the fetch says nothing of the page (a 5xx, an image, a part of a
 * page). An error: a dead letter, *ret_why a sentence. Scratch is reused from call to call. */
enum sp_err sp_record_message(struct sp_text *text, const struct sp_page_record *page,
                              struct sp_buf *scratch, struct sp_message **ret_message,
                              const char **ret_why);

/* The message that forgets the page of that URL. SP_NO_URL. */
enum sp_err sp_erase_message(struct sp_view url, struct sp_buf *scratch,
                             struct sp_message **ret_message);

#endif
