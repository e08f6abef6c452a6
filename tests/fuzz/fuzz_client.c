/* links: sp_client sp_codec */
/* Any bytes as a record of the status topic: rejected, or an event that keeps the promises of
 * samepage/status.h and that encodes to the same record. The same bytes are also tried as a record
 * of the topic of pages. */
#include <math.h>

#include "base/assert.h"
#include "base/url.h"
#include "client/decode.h"
#include "client/event.h"
#include "samepage/page.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_event(const struct samepage_status_event *event, struct sp_view value)
{
    struct sp_status_event ours;
    struct sp_buf again = {0};
    struct sp_wire_format format = sp_wire_format_seen(value);
    SP_ASSERT(event->url && samepage_status_name(event->status));
    SP_ASSERT(event->reason == SAMEPAGE_REASON_NONE || samepage_reason_name(event->reason));
    SP_ASSERT(isfinite(event->similarity) && isfinite(event->containment));
    SP_ASSERT(event->group_size >= 0 && event->epoch >= 0);
    SP_ASSERT(sp_client_event(event, &ours) == SP_OK);
    sp_status_encode(&ours, &format, &again);
    SP_ASSERT(event->rule == SAMEPAGE_RULE_NONE || samepage_rule_name(event->rule));
    if (again.len == value.len)
        SP_ASSERT(sp_view_eq(sp_buf_view(&again), value));
    else /* written before there was a container, or a rule */
        SP_ASSERT(!event->contained_in &&
                  (again.len == value.len + 2 ||
                   (again.len == value.len + 3 && event->rule == SAMEPAGE_RULE_NONE)));
    sp_buf_done(&again);
}

static unsigned touched;

static unsigned sum(const char *text, size_t len)
{
    unsigned n = 0;
    for (size_t i = 0; i < len; i++)
        n += (uint8_t)text[i];
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_buf text = {0};
    char group_id[SP_GROUP_ID_TEXT], url[SP_URL_MAX_BYTES + 8];
    struct samepage_status_event event;
    struct samepage_page page;
    struct sp_view value = sp_view(data, size);
    if (sp_client_decode(value, &text, group_id, &event) == SP_OK)
        check_event(&event, value);
    if (samepage_page_decode(data, size, &page) == 0) {
        touched += sum(page.url, page.url_bytes) + sum(page.content, page.content_bytes) +
                   sum(page.redirect_url, page.redirect_url_bytes) +
                   sum(page.content_type, page.content_type_bytes);
        size_t len = samepage_url_canonical(page.url, page.url_bytes, url, sizeof url);
        SP_ASSERT(len < sizeof url && (len == 0 || strlen(url) == len));
    }
    sp_buf_done(&text);
    return 0;
}
