/* Output events: schemas/status.avsc. Only page actors write them, so the decoder accepts only what
 * sp_status_encode writes. It copies the texts to terminate them with a NUL. */
#include "base/assert.h"
#include "codec/fingerprints.h"
#include "codec/parts.h"

void sp_status_encode(const struct sp_status_event *event, const struct sp_wire_format *format,
                      struct sp_buf *out)
{
    char group[SP_GROUP_ID_TEXT];
    sp_group_id_format(event->group, group);
    SP_ASSERT(event->status != SP_STATUS_NONE);
    sp_codec_put_frame(out, format, SP_FINGERPRINT_STATUS);
    sp_codec_put_bytes(out, sp_view_str(event->url));
    sp_buf_put_zigzag(out, event->version_ms);
    sp_codec_put_count(out, event->status - SP_STATUS_UNIQUE);
    sp_codec_put_some_text(out, event->winner_url);
    sp_codec_put_count(out, event->winner_url != NULL);
    if (event->winner_url)
        sp_codec_put_float(out, event->similarity);
    sp_codec_put_count(out, event->reason != SP_REASON_NONE);
    if (event->reason != SP_REASON_NONE)
        sp_codec_put_count(out, event->reason - SP_REASON_CONTENT);
    sp_codec_put_bytes(out, sp_view_str(group));
    sp_codec_put_count(out, event->group_size);
    sp_codec_put_count(out, event->epoch);
    sp_codec_put_count(out, event->rule != SP_RANK_NONE);
    if (event->rule != SP_RANK_NONE)
        sp_codec_put_count(out, event->rule - SP_RANK_POPULARITY);
    sp_codec_put_some_text(out, event->contained_in);
    sp_codec_put_count(out, event->contained_in != NULL);
    if (event->contained_in)
        sp_codec_put_float(out, event->containment);
}

/* Where an event ends: each new schema has appended fields. */
enum layout { NO_RULE, NO_CONTAINER, PRESENT };

static struct sp_decoder open_frame(struct sp_view in, const struct sp_wire_format *format,
                                    enum layout *ret_layout)
{
    static const uint64_t old[] = {[NO_RULE] = SP_FINGERPRINT_STATUS_NO_RULE,
                                   [NO_CONTAINER] = SP_FINGERPRINT_STATUS_NO_CONTAINER};
    bool registry = format && format->framing == SP_FRAMING_REGISTRY;
    for (int i = NO_RULE; i < PRESENT && !registry; i++) {
        struct sp_decoder d = sp_codec_open_frame(in, NULL, old[i]);
        *ret_layout = (enum layout)i;
        if (d.err == SP_OK)
            return d;
    }
    *ret_layout = PRESENT;
    return sp_codec_open_frame(in, format, SP_FINGERPRINT_STATUS);
}

/* In the registry's framing only its end distinguishes an old event: the decoder knows one id. */
static bool ends_here(const struct sp_decoder *d, const struct sp_wire_format *format)
{
    return format && format->framing == SP_FRAMING_REGISTRY && sp_reader_left(&d->r) == 0;
}

static struct sp_view get_view(struct sp_decoder *d)
{
    struct sp_view v = sp_codec_get_bytes(d);
    if (v.len && memchr(v.data, 0, v.len))
        sp_codec_refuse(d, SP_MALFORMED);
    return v;
}

static bool get_container(struct sp_decoder *d, struct sp_view *ret_url, float *ret_containment)
{
    bool some = sp_codec_get_some(d);
    if (some)
        *ret_url = get_view(d);
    if (sp_codec_get_some(d) != some)
        sp_codec_refuse(d, SP_MALFORMED);
    if (some)
        *ret_containment = sp_codec_get_float(d);
    return some;
}

static void copy_text(struct sp_buf *text, struct sp_view v)
{
    sp_buf_put_view(text, v);
    sp_buf_put_u8(text, 0);
}

enum sp_err sp_status_decode(struct sp_view in, const struct sp_wire_format *format,
                             struct sp_buf *text, struct sp_status_event *ret_event)
{
    enum layout layout = PRESENT;
    struct sp_decoder d = open_frame(in, format, &layout);
    struct sp_status_event event = {0};
    struct sp_view url = get_view(&d), winner = {0}, container = {0};
    event.version_ms = sp_codec_get_long(&d);
    event.status = SP_STATUS_UNIQUE + sp_codec_get_count(&d, SP_STATUS_GONE - SP_STATUS_UNIQUE);
    bool has_winner = sp_codec_get_some(&d);
    if (has_winner)
        winner = get_view(&d);
    if (sp_codec_get_some(&d) != has_winner)
        sp_codec_refuse(&d, SP_MALFORMED);
    if (has_winner)
        event.similarity = sp_codec_get_float(&d);
    if (sp_codec_get_some(&d))
        event.reason =
            SP_REASON_CONTENT + sp_codec_get_count(&d, SP_REASON_EXACT - SP_REASON_CONTENT);
    struct sp_view group = sp_codec_get_bytes(&d);
    if (sp_group_id_parse(group, &event.group) != SP_OK)
        sp_codec_refuse(&d, SP_MALFORMED);
    event.group_size = (uint32_t)sp_codec_get_count(&d, UINT32_MAX);
    event.epoch = sp_codec_get_count(&d, INT64_MAX);
    if (layout > NO_RULE && !ends_here(&d, format) && sp_codec_get_some(&d))
        event.rule =
            SP_RANK_POPULARITY + sp_codec_get_count(&d, SP_RANK_OVERRIDE - SP_RANK_POPULARITY);
    bool contained = layout > NO_CONTAINER && !ends_here(&d, format) &&
                     get_container(&d, &container, &event.containment);
    enum sp_err err = sp_codec_finish(&d);
    if (err != SP_OK)
        return err;
    sp_buf_reset(text);
    copy_text(text, url);
    copy_text(text, winner);
    copy_text(text, container);
    event.url = text->data; /* only now, because the buffer may move while it grows */
    event.winner_url = has_winner ? text->data + url.len + 1 : NULL;
    event.contained_in = contained ? text->data + url.len + 1 + winner.len + 1 : NULL;
    *ret_event = event;
    return SP_OK;
}
