/* Messages between the stages: schemas/tier1.avsc and tier2.avsc, a union of records each.
 *
 * A record is a list of fields, the same for writing and reading: the table below, in the
 * order of the schema. A new kind is a row of it, a new field an entry of the two switches.
 *
 * Invariant: what sp_message_decode accepts encodes to the same bytes, and keeps the rules of its
 * kind (check_kind), so that no bytes can make an actor assert. On failure the half-read
 * message is freed and an error of codec.h answered. */
#include "base/mem.h"
#include "codec/fingerprints.h"
#include "codec/parts.h"

enum field {
    END,
    BOUNCED,
    SETTLED,
    CELL,
    PAGE,
    GROUP,
    FAR,
    VERSION,
    CONTENT_VERSION,
    EPOCH,
    PAGE_KIND,
    TARGET,
    OLD_CONTENT,
    SOME_OLD_CONTENT, /* SOME_: a union with null */
    RANK,
    SIGNATURE,
    SOME_SIGNATURE,
    URL,
    SOME_URL,
    SOME_TARGET_URL,
    EDGES,
    ROWS,
    STATUS,
    REASON,
    SOME_WINNER,
    SIMILARITY,
    GROUP_SIZE
};

enum { MAX_FIELDS = 12 };

/* Every record begins with the clock. */
static const uint8_t fields_of[SP_MSG_KINDS][MAX_FIELDS] = {
    [SP_MSG_CRAWLED] = {PAGE, VERSION, PAGE_KIND, SOME_SIGNATURE, TARGET, RANK, URL,
                        SOME_TARGET_URL},
    [SP_MSG_APPLIED] = {PAGE, CONTENT_VERSION, SETTLED},
    [SP_MSG_MATCH] = {PAGE, CONTENT_VERSION, EDGES, SOME_URL},
    [SP_MSG_FIND_GROUP] = {PAGE, CONTENT_VERSION, EDGES, SOME_URL, FAR},
    [SP_MSG_ASSIGNED] = {PAGE, FAR, EPOCH},
    [SP_MSG_STATUS] = {PAGE, FAR, EPOCH, CONTENT_VERSION, STATUS, REASON, SOME_WINNER, SIMILARITY,
                       GROUP_SIZE, SOME_URL},
    [SP_MSG_MOVE] = {PAGE, CONTENT_VERSION, SIGNATURE},
    [SP_MSG_CHANGE] = {BOUNCED, GROUP, PAGE, VERSION, CONTENT_VERSION, PAGE_KIND, SOME_SIGNATURE,
                       TARGET, RANK, SOME_URL},
    [SP_MSG_LINK] = {BOUNCED, GROUP, PAGE, CONTENT_VERSION, EDGES, SOME_URL},
    [SP_MSG_UNION] = {BOUNCED, GROUP, PAGE, CONTENT_VERSION, EDGES, SOME_URL, FAR},
    [SP_MSG_DISSOLVE] = {GROUP, PAGE, CONTENT_VERSION, EDGES, SOME_URL, FAR},
    [SP_MSG_MEMBERS] = {GROUP, PAGE, CONTENT_VERSION, EDGES, SOME_URL, FAR, ROWS},
    [SP_MSG_PUT] = {CELL, PAGE, CONTENT_VERSION, SIGNATURE, SOME_OLD_CONTENT, SETTLED},
    [SP_MSG_REMOVE] = {CELL, PAGE, CONTENT_VERSION, OLD_CONTENT},
    [SP_MSG_PROBE] = {CELL, PAGE, CONTENT_VERSION, SIGNATURE},
};

/* The branch of a union is the kind, counted from the tier's first. */
_Static_assert(SP_MSG_CRAWLED == 1 && SP_MSG_PUT == 13 && SP_MSG_KINDS == 16,
               "a new kind needs a row here and a record in schemas/");

/* The fewest bytes of an edge and of a member row. */
enum { EDGE_BYTES = 16 + 1, ROW_BYTES = 16 + 1 + 1 + 1 + 1 + 1 + (8 + 3) + 1 + 1 + 1 };

/* ---- lists -------------------------------------------------------------------------------------
 */

static void put_edges(struct sp_buf *out, const struct sp_message *m)
{
    sp_codec_put_items(out, m->edge_count);
    for (uint32_t i = 0; i < m->edge_count; i++) {
        sp_codec_put_id(out, m->edges[i].page);
        sp_buf_put_zigzag(out, m->edges[i].content_version);
    }
    sp_codec_put_end_items(out);
}

static void get_edges(struct sp_decoder *d, struct sp_message *m)
{
    uint32_t count = sp_codec_get_items(d, EDGE_BYTES);
    if (count) {
        m->edges = sp_calloc(count, sizeof *m->edges);
        m->edge_count = count;
    }
    for (uint32_t i = 0; i < count && !d->r.failed; i++) {
        m->edges[i].page = sp_codec_get_id(d);
        m->edges[i].content_version = sp_codec_get_long(d);
    }
    sp_codec_get_end_items(d, count);
}

static void put_row(struct sp_buf *out, const struct sp_member_row *row)
{
    sp_codec_put_id(out, row->page);
    sp_buf_put_zigzag(out, row->version);
    sp_buf_put_zigzag(out, row->content_version);
    sp_codec_put_count(out, row->kind);
    sp_codec_put_some_id(out, row->target);
    sp_codec_put_some_signature(out, row->signature);
    sp_codec_put_rank(out, &row->rank);
    sp_codec_put_bytes(out, sp_view_str(row->url));
    sp_codec_put_count(out, row->epoch);
    sp_codec_put_some_id(out, row->parent);
}

static void get_row(struct sp_decoder *d, struct sp_member_row *row)
{
    row->page = sp_codec_get_id(d);
    row->version = sp_codec_get_long(d);
    row->content_version = sp_codec_get_long(d);
    row->kind = (enum sp_page_kind)sp_codec_get_count(d, SP_PAGE_DEAD);
    row->target = sp_codec_get_some_id(d);
    row->signature = sp_codec_get_some_signature(d);
    row->rank = sp_codec_get_rank(d);
    row->url = sp_codec_get_text(d);
    row->epoch = (uint64_t)sp_codec_get_long(d);
    row->parent = sp_codec_get_some_id(d);
    if ((row->signature != NULL) != (row->kind == SP_PAGE_CONTENT))
        sp_codec_refuse(d, SP_MALFORMED);
}

static void put_rows(struct sp_buf *out, const struct sp_message *m)
{
    sp_codec_put_items(out, m->row_count);
    for (uint32_t i = 0; i < m->row_count; i++)
        put_row(out, &m->rows[i]);
    sp_codec_put_end_items(out);
}

static void get_rows(struct sp_decoder *d, struct sp_message *m)
{
    uint32_t count = sp_codec_get_items(d, ROW_BYTES);
    if (count) {
        m->rows = sp_calloc(count, sizeof *m->rows); /* rows not read are empty and can be freed */
        m->row_count = count;
    }
    for (uint32_t i = 0; i < count && !d->r.failed; i++)
        get_row(d, &m->rows[i]);
    sp_codec_get_end_items(d, count);
}

/* ---- fields ------------------------------------------------------------------------------------
 */

static void put_plain(struct sp_buf *out, const struct sp_message *m, enum field field)
{
    switch (field) {
    case BOUNCED:
        sp_buf_put_u8(out, m->bounced);
        break;
    case SETTLED:
        sp_buf_put_u8(out, m->settled);
        break;
    case CELL:
        sp_codec_put_count(out, m->cell);
        break;
    case VERSION:
        sp_buf_put_zigzag(out, m->version);
        break;
    case CONTENT_VERSION:
        sp_buf_put_zigzag(out, m->content_version);
        break;
    case EPOCH:
        sp_codec_put_count(out, m->epoch);
        break;
    case PAGE_KIND:
        sp_codec_put_count(out, m->page_kind);
        break;
    case STATUS:
        sp_codec_put_count(out, m->status);
        break;
    case REASON:
        sp_codec_put_count(out, m->reason);
        break;
    case SIMILARITY:
        sp_codec_put_float(out, m->similarity);
        break;
    default:
        sp_codec_put_count(out, m->group_size);
        break;
    }
}

static void get_plain(struct sp_decoder *d, struct sp_message *m, enum field field)
{
    switch (field) {
    case BOUNCED:
        m->bounced = sp_codec_get_bool(d);
        break;
    case SETTLED:
        m->settled = sp_codec_get_bool(d);
        break;
    case CELL:
        m->cell = (uint32_t)sp_codec_get_count(d, UINT32_MAX);
        break;
    case VERSION:
        m->version = sp_codec_get_long(d);
        break;
    case CONTENT_VERSION:
        m->content_version = sp_codec_get_long(d);
        break;
    case EPOCH:
        m->epoch = (uint64_t)sp_codec_get_long(d);
        break;
    case PAGE_KIND:
        m->page_kind = (enum sp_page_kind)sp_codec_get_count(d, SP_PAGE_DEAD);
        break;
    case STATUS:
        m->status = (enum sp_page_status)sp_codec_get_count(d, SP_STATUS_GONE);
        break;
    case REASON:
        m->reason = (enum sp_reason)sp_codec_get_count(d, SP_REASON_EXACT);
        break;
    case SIMILARITY:
        m->similarity = sp_codec_get_float(d);
        break;
    default:
        m->group_size = (uint32_t)sp_codec_get_count(d, UINT32_MAX);
        break;
    }
}

static void put_field(struct sp_buf *out, const struct sp_message *m, enum field field)
{
    switch (field) {
    case PAGE:
        sp_codec_put_id(out, m->page);
        break;
    case GROUP:
        sp_codec_put_group_id(out, m->group);
        break;
    case FAR:
        sp_codec_put_group_id(out, m->far);
        break;
    case TARGET:
        sp_codec_put_some_id(out, m->target);
        break;
    case OLD_CONTENT:
        sp_codec_put_id(out, m->old_content);
        break;
    case SOME_OLD_CONTENT:
        sp_codec_put_some_id(out, m->old_content);
        break;
    case SOME_WINNER:
        sp_codec_put_some_id(out, m->winner);
        break;
    case RANK:
        sp_codec_put_rank(out, &m->rank);
        break;
    case SIGNATURE:
        sp_codec_put_signature(out, m->signature);
        break;
    case SOME_SIGNATURE:
        sp_codec_put_some_signature(out, m->signature);
        break;
    case URL:
        sp_codec_put_bytes(out, sp_view_str(m->url));
        break;
    case SOME_URL:
        sp_codec_put_some_text(out, m->url);
        break;
    case SOME_TARGET_URL:
        sp_codec_put_some_text(out, m->target_url);
        break;
    case EDGES:
        put_edges(out, m);
        break;
    case ROWS:
        put_rows(out, m);
        break;
    default:
        put_plain(out, m, field);
        break;
    }
}

static void get_field(struct sp_decoder *d, struct sp_message *m, enum field field)
{
    switch (field) {
    case PAGE:
        m->page = sp_codec_get_id(d);
        break;
    case GROUP:
        m->group = sp_codec_get_group_id(d);
        break;
    case FAR:
        m->far = sp_codec_get_group_id(d);
        break;
    case TARGET:
        m->target = sp_codec_get_some_id(d);
        break;
    case OLD_CONTENT:
        m->old_content = sp_codec_get_id(d);
        break;
    case SOME_OLD_CONTENT:
        m->old_content = sp_codec_get_some_id(d);
        break;
    case SOME_WINNER:
        m->winner = sp_codec_get_some_id(d);
        break;
    case RANK:
        m->rank = sp_codec_get_rank(d);
        break;
    case SIGNATURE:
        m->signature = sp_codec_get_signature(d);
        break;
    case SOME_SIGNATURE:
        m->signature = sp_codec_get_some_signature(d);
        break;
    case URL:
        m->url = sp_codec_get_text(d);
        break;
    case SOME_URL:
        m->url = sp_codec_get_some_text(d);
        break;
    case SOME_TARGET_URL:
        m->target_url = sp_codec_get_some_text(d);
        break;
    case EDGES:
        get_edges(d, m);
        break;
    case ROWS:
        get_rows(d, m);
        break;
    default:
        get_plain(d, m, field);
        break;
    }
}

/* ---- messages ----------------------------------------------------------------------------------
 */

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
    for (const uint8_t *f = fields_of[m->kind]; *f != END; f++)
        put_field(out, m, (enum field) * f);
}

/* What the actors take for granted. */
static bool check_kind(const struct sp_message *m)
{
    switch (m->kind) {
    case SP_MSG_CRAWLED:
        if (m->page_kind == SP_PAGE_REDIRECT && (sp_id_is_zero(m->target) || !m->target_url))
            return false;
        return (m->signature != NULL) == (m->page_kind == SP_PAGE_CONTENT);
    case SP_MSG_CHANGE:
        return !m->signature || m->page_kind == SP_PAGE_CONTENT;
    case SP_MSG_MATCH:
    case SP_MSG_FIND_GROUP:
    case SP_MSG_LINK:
    case SP_MSG_UNION:
    case SP_MSG_DISSOLVE:
        return m->edge_count > 0;
    default:
        return true;
    }
}

/* Which kind follows: the fingerprint names the tier, the branch of its union the kind. */
static enum sp_message_kind get_kind(struct sp_decoder *d)
{
    enum sp_message_kind first = SP_MSG_CRAWLED, last = SP_MSG_MEMBERS;
    uint64_t fingerprint = sp_codec_get_fingerprint(d);
    if (fingerprint == SP_FINGERPRINT_TIER2) {
        first = SP_MSG_PUT;
        last = SP_MSG_PROBE;
    } else if (fingerprint != SP_FINGERPRINT_TIER1) {
        sp_codec_refuse(d, SP_UNKNOWN_SCHEMA);
    }
    return first + (enum sp_message_kind)sp_codec_get_count(d, last - first);
}

enum sp_err sp_message_decode(struct sp_view in, struct sp_message **ret_message)
{
    struct sp_decoder d = {sp_reader(in), SP_OK};
    struct sp_message *m = sp_message_new(get_kind(&d));
    m->clock = (uint64_t)sp_codec_get_long(&d);
    for (const uint8_t *f = fields_of[m->kind]; *f != END && !d.r.failed; f++)
        get_field(&d, m, (enum field) * f);
    enum sp_err err = sp_codec_finish(&d);
    if (err == SP_OK && !check_kind(m))
        err = SP_MALFORMED;
    if (err != SP_OK) {
        sp_message_free(m);
        return err;
    }
    *ret_message = m;
    return SP_OK;
}
