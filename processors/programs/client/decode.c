/* See decode.h. Also the texts of samepage/status.h. */
#include "client/decode.h"

/* The public numbers equal ours, so no conversion is needed. */
_Static_assert((int)SAMEPAGE_STATUS_UNIQUE == SP_STATUS_UNIQUE &&
                   (int)SAMEPAGE_STATUS_WINNER == SP_STATUS_WINNER &&
                   (int)SAMEPAGE_STATUS_LOSER == SP_STATUS_LOSER &&
                   (int)SAMEPAGE_STATUS_GONE == SP_STATUS_GONE,
               "");
_Static_assert((int)SAMEPAGE_REASON_NONE == SP_REASON_NONE &&
                   (int)SAMEPAGE_REASON_CONTENT == SP_REASON_CONTENT &&
                   (int)SAMEPAGE_REASON_REDIRECT == SP_REASON_REDIRECT &&
                   (int)SAMEPAGE_REASON_EXACT == SP_REASON_EXACT,
               "");
_Static_assert((int)SAMEPAGE_RULE_NONE == SP_RANK_NONE &&
                   (int)SAMEPAGE_RULE_POPULARITY == SP_RANK_POPULARITY &&
                   (int)SAMEPAGE_RULE_STATIC == SP_RANK_STATIC &&
                   (int)SAMEPAGE_RULE_SHORT == SP_RANK_SHORT &&
                   (int)SAMEPAGE_RULE_MARKET == SP_RANK_MARKET &&
                   (int)SAMEPAGE_RULE_ID == SP_RANK_ID &&
                   (int)SAMEPAGE_RULE_OVERRIDE == SP_RANK_OVERRIDE,
               "");

enum sp_err sp_client_decode(struct sp_view value, struct sp_buf *text,
                             char group_id[SP_GROUP_ID_TEXT], struct samepage_status_event *out)
{
    struct sp_status_event event;
    struct sp_wire_format format = sp_wire_format_seen(value);
    enum sp_err err = sp_status_decode(value, &format, text, &event);
    if (err != SP_OK)
        return err;
    sp_group_id_format(event.group, group_id);
    *out = (struct samepage_status_event){.url = event.url,
                                          .version_ms = event.version_ms,
                                          .status = (enum samepage_status)event.status,
                                          .winner_url = event.winner_url,
                                          .similarity = event.similarity,
                                          .reason = (enum samepage_reason)event.reason,
                                          .group_id = group_id,
                                          .group_size = event.group_size,
                                          .epoch = (int64_t)event.epoch,
                                          .rule = (enum samepage_rule)event.rule,
                                          .contained_in = event.contained_in,
                                          .containment = event.containment};
    return SP_OK;
}

const char *samepage_status_name(enum samepage_status status)
{
    bool known = status >= SAMEPAGE_STATUS_UNIQUE && status <= SAMEPAGE_STATUS_GONE;
    return known ? sp_status_name((enum sp_page_status)status) : NULL;
}

const char *samepage_reason_name(enum samepage_reason reason)
{
    return sp_reason_name((enum sp_reason)reason);
}

const char *samepage_rule_name(enum samepage_rule rule)
{
    return sp_rank_rule_name((enum sp_rank_rule)rule);
}
