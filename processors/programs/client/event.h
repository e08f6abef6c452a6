/* Converts the public client's event to ours: the enumerations of status.h and message.h have the
 * same numbers. */
#ifndef SP_CLIENT_EVENT_H
#define SP_CLIENT_EVENT_H

#include "codec/codec.h"
#include "samepage/status.h"

/* Texts are borrowed from the event; the page's id is left out. Returns what sp_group_id_parse
 * returns. */
static inline enum sp_err sp_client_event(const struct samepage_status_event *event,
                                          struct sp_status_event *ret_event)
{
    *ret_event = (struct sp_status_event){.url = event->url,
                                          .version_ms = event->version_ms,
                                          .status = (enum sp_page_status)event->status,
                                          .winner_url = event->winner_url,
                                          .similarity = event->similarity,
                                          .reason = (enum sp_reason)event->reason,
                                          .group_size = (uint32_t)event->group_size,
                                          .epoch = (uint64_t)event->epoch,
                                          .rule = (enum sp_rank_rule)event->rule,
                                          .contained_in = event->contained_in,
                                          .containment = event->containment};
    return sp_group_id_parse(sp_view_str(event->group_id), &ret_event->group);
}

#endif
