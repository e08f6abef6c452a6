/* One record of the input becomes the message that starts a page's way through the tiers. */
#ifndef SP_SIGNATURE_SIGNATURE_H
#define SP_SIGNATURE_SIGNATURE_H

#include "input/input.h"
#include "page/message.h"
#include "text/text.h"

/* Fetch times are before this one, in the year 2248: a later one is damage, and would be newer than
 * any fetch of its page that is to come. */
#define SP_FETCH_TIME_END (1ll << 43)

/* Makes a message from one record. Returns SP_OK and a message that the caller frees, or SP_OK and
 * NULL if the fetch says nothing of its page (a 5xx, an image, a part of a page). Otherwise returns
 * SP_NO_URL or SP_MALFORMED; then *ret_message is unchanged, and *ret_why is a literal for the dead
 * letter. `scratch` is overwritten. Thread rule: that of `text`. */
enum sp_err sp_record_message(struct sp_text *text, const struct sp_page_record *page,
                              struct sp_buf *scratch, struct sp_message **ret_message,
                              const char **ret_why);

/* Makes the message that forgets the page of a URL. Returns SP_OK and a message that the caller
 * frees, or SP_NO_URL; then *ret_message is unchanged. `scratch` is overwritten. Thread rule: any
 * thread with a scratch of its own. */
enum sp_err sp_erase_message(struct sp_view url, struct sp_buf *scratch,
                             struct sp_message **ret_message);

#endif
