/* Messages between the stages: schemas/tier1.avsc and tier2.avsc, a union of records each.
 *
 * Each kind has one function that writes its record and one that reads it, in the order of the
 * schema. The clock, the first field of every record, is handled by their callers.
 *
 * Invariant: a message that sp_message_decode accepts encodes to the same bytes and keeps the rules
 * of its kind (rules.c), so no input makes an actor assert. On failure nothing is kept. */
#include "codec/asker.h"
#include "codec/fingerprints.h"
#include "codec/parts.h"

/* The branch of a union is the kind minus the first kind of the tier. */
_Static_assert(SP_MSG_CRAWLED == 1 && SP_MSG_PUT == 15 && SP_MSG_KINDS == 19,
               "a new kind needs a record in schemas/");

/* ---- to a page actor ---- */

static void put_crawled(struct sp_buf *out, const struct sp_message *m)
{
    const struct sp_crawled *c = &m->crawled;
    sp_codec_put_id(out, m->page);
    sp_buf_put_zigzag(out, c->version);
    sp_codec_put_count(out, c->page_kind);
    sp_codec_put_some_signature(out, c->signature);
    sp_codec_put_some_id(out, c->target);
    sp_codec_put_rank(out, &c->rank);
    sp_codec_put_bytes(out, sp_view_str(c->url));
    sp_codec_put_some_text(out, c->target_url);
    sp_buf_put_zigzag(out, c->as_of);
}

static void get_crawled(struct sp_decoder *d, struct sp_message *m)
{
    struct sp_crawled *c = &m->crawled;
    m->page = sp_codec_get_id(d);
    c->version = sp_codec_get_long(d);
    c->page_kind = (enum sp_page_kind)sp_codec_get_count(d, SP_PAGE_DEAD);
    c->signature = sp_codec_get_some_signature(d);
    c->target = sp_codec_get_some_id(d);
    c->rank = sp_codec_get_rank(d);
    c->url = sp_codec_get_text(d);
    c->target_url = sp_codec_get_some_text(d);
    c->as_of = sp_codec_get_long(d);
}

static void put_applied(struct sp_buf *out, const struct sp_message *m)
{
    sp_codec_put_id(out, m->page);
    sp_buf_put_zigzag(out, m->applied.content_version);
    sp_buf_put_u8(out, m->applied.settled);
}

static void get_applied(struct sp_decoder *d, struct sp_message *m)
{
    m->page = sp_codec_get_id(d);
    m->applied.content_version = sp_codec_get_long(d);
    m->applied.settled = sp_codec_get_bool(d);
}

static void put_far(struct sp_buf *out, const struct sp_link *link)
{
    sp_codec_put_group_id(out, link->far);
    sp_codec_put_count(out, link->far_level);
}

static void get_far(struct sp_decoder *d, struct sp_link *link)
{
    link->far = sp_codec_get_group_id(d);
    link->far_level = (uint32_t)sp_codec_get_count(d, SP_GROUP_LEVELS - 1);
}

static void put_find_group(struct sp_buf *out, const struct sp_message *m)
{
    sp_codec_put_asker(out, m);
    put_far(out, &m->link);
}

static void get_find_group(struct sp_decoder *d, struct sp_message *m)
{
    sp_codec_get_asker(d, m);
    get_far(d, &m->link);
}

static void put_assigned(struct sp_buf *out, const struct sp_message *m)
{
    sp_codec_put_id(out, m->page);
    sp_codec_put_group_id(out, m->assigned.far);
    sp_codec_put_count(out, m->assigned.epoch);
}

static void get_assigned(struct sp_decoder *d, struct sp_message *m)
{
    m->page = sp_codec_get_id(d);
    m->assigned.far = sp_codec_get_group_id(d);
    m->assigned.epoch = (uint64_t)sp_codec_get_long(d);
}

static void put_verdict(struct sp_buf *out, const struct sp_message *m)
{
    sp_codec_put_id(out, m->page);
    sp_codec_put_verdict(out, &m->verdict);
}

static void get_verdict(struct sp_decoder *d, struct sp_message *m)
{
    m->page = sp_codec_get_id(d);
    sp_codec_get_verdict(d, &m->verdict);
}

static void put_move(struct sp_buf *out, const struct sp_message *m)
{
    sp_codec_put_id(out, m->page);
    sp_buf_put_zigzag(out, m->move.content_version);
    sp_codec_put_signature(out, m->move.signature);
}

static void get_move(struct sp_decoder *d, struct sp_message *m)
{
    m->page = sp_codec_get_id(d);
    m->move.content_version = sp_codec_get_long(d);
    m->move.signature = sp_codec_get_signature(d);
}

/* ---- to a group actor ---- */

static void put_change(struct sp_buf *out, const struct sp_message *m)
{
    const struct sp_change *c = &m->change;
    sp_buf_put_u8(out, m->bounced);
    sp_codec_put_group_id(out, c->group);
    sp_codec_put_id(out, m->page);
    sp_buf_put_zigzag(out, c->version);
    sp_buf_put_zigzag(out, c->content_version);
    sp_codec_put_count(out, c->page_kind);
    sp_codec_put_some_signature(out, c->signature);
    sp_codec_put_some_id(out, c->target);
    sp_codec_put_rank(out, &c->rank);
    sp_codec_put_some_text(out, c->url);
}

static void get_change(struct sp_decoder *d, struct sp_message *m)
{
    struct sp_change *c = &m->change;
    m->bounced = sp_codec_get_bool(d);
    c->group = sp_codec_get_group_id(d);
    m->page = sp_codec_get_id(d);
    c->version = sp_codec_get_long(d);
    c->content_version = sp_codec_get_long(d);
    c->page_kind = (enum sp_page_kind)sp_codec_get_count(d, SP_PAGE_DEAD);
    c->signature = sp_codec_get_some_signature(d);
    c->target = sp_codec_get_some_id(d);
    c->rank = sp_codec_get_rank(d);
    c->url = sp_codec_get_some_text(d);
}

static void put_link(struct sp_buf *out, const struct sp_message *m)
{
    sp_buf_put_u8(out, m->bounced);
    sp_codec_put_group_id(out, m->link.group);
    sp_codec_put_asker(out, m);
}

static void get_link(struct sp_decoder *d, struct sp_message *m)
{
    m->bounced = sp_codec_get_bool(d);
    m->link.group = sp_codec_get_group_id(d);
    sp_codec_get_asker(d, m);
}

static void put_union(struct sp_buf *out, const struct sp_message *m)
{
    put_link(out, m);
    put_far(out, &m->link);
}

static void get_union(struct sp_decoder *d, struct sp_message *m)
{
    get_link(d, m);
    get_far(d, &m->link);
}

static void put_dissolve(struct sp_buf *out, const struct sp_message *m)
{
    sp_codec_put_group_id(out, m->link.group);
    sp_codec_put_asker(out, m);
    put_far(out, &m->link);
}

static void get_dissolve(struct sp_decoder *d, struct sp_message *m)
{
    m->link.group = sp_codec_get_group_id(d);
    sp_codec_get_asker(d, m);
    get_far(d, &m->link);
}

static void put_members(struct sp_buf *out, const struct sp_message *m)
{
    sp_codec_put_group_id(out, m->link.group);
    sp_codec_put_asker(out, m);
    sp_codec_put_group_id(out, m->link.far);
    sp_buf_put_u8(out, m->link.more);
    sp_codec_put_rows(out, &m->link);
}

static void get_members(struct sp_decoder *d, struct sp_message *m)
{
    m->link.group = sp_codec_get_group_id(d);
    sp_codec_get_asker(d, m);
    m->link.far = sp_codec_get_group_id(d);
    m->link.more = sp_codec_get_bool(d);
    sp_codec_get_rows(d, &m->link);
}

/* Its target was that of a redirect that had to forget the URL of it. A redirect has none now, and
 * such a message must not erase the redirect. */
static void put_erase(struct sp_buf *out, const struct sp_message *m)
{
    sp_codec_put_id(out, m->page);
    sp_codec_put_some_id(out, (struct sp_id){0, 0});
    sp_codec_put_bytes(out, sp_view_str(m->erase.url));
}

static void get_erase(struct sp_decoder *d, struct sp_message *m)
{
    m->page = sp_codec_get_id(d);
    if (sp_codec_get_some(d))
        sp_codec_refuse(d, SP_MALFORMED);
    m->erase.url = sp_codec_get_text(d);
}

static void put_wait(struct sp_buf *out, const struct sp_message *m)
{
    sp_codec_put_group_id(out, m->wait.group);
    sp_codec_put_group_id(out, m->wait.far);
}

static void get_wait(struct sp_decoder *d, struct sp_message *m)
{
    m->wait.group = sp_codec_get_group_id(d);
    m->wait.far = sp_codec_get_group_id(d);
}

/* ---- to a cell actor ---- */

static void put_put(struct sp_buf *out, const struct sp_message *m)
{
    const struct sp_put *p = &m->put;
    sp_codec_put_count(out, p->cell);
    sp_codec_put_id(out, m->page);
    sp_buf_put_zigzag(out, p->content_version);
    sp_codec_put_signature(out, p->signature);
    sp_codec_put_some_id(out, p->old_content);
    sp_buf_put_u8(out, p->settled);
}

static void get_put(struct sp_decoder *d, struct sp_message *m)
{
    struct sp_put *p = &m->put;
    p->cell = (uint32_t)sp_codec_get_count(d, UINT32_MAX);
    m->page = sp_codec_get_id(d);
    p->content_version = sp_codec_get_long(d);
    p->signature = sp_codec_get_signature(d);
    p->old_content = sp_codec_get_some_id(d);
    p->settled = sp_codec_get_bool(d);
}

static void put_remove(struct sp_buf *out, const struct sp_message *m)
{
    sp_codec_put_count(out, m->remove.cell);
    sp_codec_put_id(out, m->page);
    sp_buf_put_zigzag(out, m->remove.content_version);
    sp_codec_put_id(out, m->remove.old_content);
}

static void get_remove(struct sp_decoder *d, struct sp_message *m)
{
    m->remove.cell = (uint32_t)sp_codec_get_count(d, UINT32_MAX);
    m->page = sp_codec_get_id(d);
    m->remove.content_version = sp_codec_get_long(d);
    m->remove.old_content = sp_codec_get_id(d);
}

static void put_probe(struct sp_buf *out, const struct sp_message *m)
{
    sp_codec_put_count(out, m->probe.cell);
    sp_codec_put_id(out, m->page);
    sp_buf_put_zigzag(out, m->probe.content_version);
    sp_codec_put_signature(out, m->probe.signature);
}

static void get_probe(struct sp_decoder *d, struct sp_message *m)
{
    m->probe.cell = (uint32_t)sp_codec_get_count(d, UINT32_MAX);
    m->page = sp_codec_get_id(d);
    m->probe.content_version = sp_codec_get_long(d);
    m->probe.signature = sp_codec_get_signature(d);
}

/* ---- messages ---- */

static void put_again(struct sp_buf *out, const struct sp_message *m)
{
    sp_codec_put_count(out, m->again.cell);
    sp_codec_put_count(out, m->again.from);
    sp_codec_put_id(out, m->again.content);
}

static void get_again(struct sp_decoder *d, struct sp_message *m)
{
    m->again.cell = (uint32_t)sp_codec_get_count(d, UINT32_MAX);
    m->again.from = (uint32_t)sp_codec_get_count(d, UINT32_MAX);
    m->again.content = sp_codec_get_id(d);
}

static void put_kind(struct sp_buf *out, const struct sp_message *m)
{
    switch (m->kind) {
    case SP_MSG_CRAWLED:
        put_crawled(out, m);
        break;
    case SP_MSG_APPLIED:
        put_applied(out, m);
        break;
    case SP_MSG_MATCH:
        sp_codec_put_asker(out, m);
        break;
    case SP_MSG_FIND_GROUP:
        put_find_group(out, m);
        break;
    case SP_MSG_ASSIGNED:
        put_assigned(out, m);
        break;
    case SP_MSG_STATUS:
        put_verdict(out, m);
        break;
    case SP_MSG_MOVE:
        put_move(out, m);
        break;
    case SP_MSG_CHANGE:
        put_change(out, m);
        break;
    case SP_MSG_LINK:
        put_link(out, m);
        break;
    case SP_MSG_UNION:
        put_union(out, m);
        break;
    case SP_MSG_DISSOLVE:
        put_dissolve(out, m);
        break;
    case SP_MSG_MEMBERS:
        put_members(out, m);
        break;
    case SP_MSG_ERASE:
        put_erase(out, m);
        break;
    case SP_MSG_WAIT:
        put_wait(out, m);
        break;
    case SP_MSG_PUT:
        put_put(out, m);
        break;
    case SP_MSG_REMOVE:
        put_remove(out, m);
        break;
    case SP_MSG_PROBE:
        put_probe(out, m);
        break;
    case SP_MSG_AGAIN:
        put_again(out, m);
        break;
    }
}

static void get_kind(struct sp_decoder *d, struct sp_message *m)
{
    switch (m->kind) {
    case SP_MSG_CRAWLED:
        get_crawled(d, m);
        break;
    case SP_MSG_APPLIED:
        get_applied(d, m);
        break;
    case SP_MSG_MATCH:
        sp_codec_get_asker(d, m);
        break;
    case SP_MSG_FIND_GROUP:
        get_find_group(d, m);
        break;
    case SP_MSG_ASSIGNED:
        get_assigned(d, m);
        break;
    case SP_MSG_STATUS:
        get_verdict(d, m);
        break;
    case SP_MSG_MOVE:
        get_move(d, m);
        break;
    case SP_MSG_CHANGE:
        get_change(d, m);
        break;
    case SP_MSG_LINK:
        get_link(d, m);
        break;
    case SP_MSG_UNION:
        get_union(d, m);
        break;
    case SP_MSG_DISSOLVE:
        get_dissolve(d, m);
        break;
    case SP_MSG_MEMBERS:
        get_members(d, m);
        break;
    case SP_MSG_ERASE:
        get_erase(d, m);
        break;
    case SP_MSG_WAIT:
        get_wait(d, m);
        break;
    case SP_MSG_PUT:
        get_put(d, m);
        break;
    case SP_MSG_REMOVE:
        get_remove(d, m);
        break;
    case SP_MSG_PROBE:
        get_probe(d, m);
        break;
    case SP_MSG_AGAIN:
        get_again(d, m);
        break;
    }
}

static enum sp_message_kind first_kind(enum sp_tier tier)
{
    return tier == SP_TIER_1 ? SP_MSG_CRAWLED : SP_MSG_PUT;
}

void sp_message_encode(const struct sp_message *m, struct sp_buf *out)
{
    enum sp_tier tier = sp_message_tier(m);
    sp_codec_put_frame(out, NULL, tier == SP_TIER_1 ? SP_FINGERPRINT_TIER1 : SP_FINGERPRINT_TIER2);
    sp_codec_put_count(out, m->kind - first_kind(tier));
    sp_codec_put_count(out, m->clock);
    put_kind(out, m);
}

/* Returns the kind that follows: the fingerprint gives the tier, the branch of its union the
 * kind. */
static enum sp_message_kind get_branch(struct sp_decoder *d)
{
    enum sp_message_kind first = SP_MSG_CRAWLED, last = SP_MSG_WAIT;
    uint64_t fingerprint = sp_codec_get_fingerprint(d);
    if (fingerprint == SP_FINGERPRINT_TIER2) {
        first = SP_MSG_PUT;
        last = SP_MSG_AGAIN;
    } else if (fingerprint == SP_FINGERPRINT_TIER1_NO_WAIT) {
        last = SP_MSG_ERASE;
    } else if (fingerprint == SP_FINGERPRINT_TIER1_NO_RULE) {
        d->no_rule = true;
        last = SP_MSG_MEMBERS;
    } else if (fingerprint != SP_FINGERPRINT_TIER1) {
        sp_codec_refuse(d, SP_UNKNOWN_SCHEMA);
    }
    return first + (enum sp_message_kind)sp_codec_get_count(d, last - first);
}

int sp_message_peek(struct sp_view in)
{
    struct sp_decoder d = {sp_reader(in), SP_OK, false};
    enum sp_message_kind kind = get_branch(&d);
    return d.err == SP_OK && !d.r.failed ? (int)kind : 0;
}

enum sp_err sp_message_decode(struct sp_view in, struct sp_message **ret_message)
{
    struct sp_decoder d = {sp_reader(in), SP_OK, false};
    struct sp_message *m = sp_message_new(get_branch(&d));
    m->clock = sp_codec_get_count(&d, 1ull << 60); /* actors must have room to count on */
    get_kind(&d, m);
    enum sp_err err = sp_codec_finish(&d);
    if (err == SP_OK && !sp_codec_keeps_rules(m))
        err = SP_MALFORMED;
    if (err != SP_OK) {
        sp_message_free(m);
        return err;
    }
    *ret_message = m;
    return SP_OK;
}
