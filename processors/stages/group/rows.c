/* The stored form of pages and members. Only this program reads it: a format byte, then the fields
 * in fixed order. Decoding a damaged row returns SP_CORRUPT.
 *
 *   'P' page                  -> page row, with the group of one it founded inside it
 *   'G' birth founder         -> level, `parted`, large, open transfers, members of a small group
 *   'M' birth founder page    -> member row
 *   'D' number                -> a departure: the two groups, and its last message (departures.c)
 *   'L' number content page   -> member row, without what the page was told
 *   'T' birth founder         -> what it has put off (debt.c)
 *   'B'                       -> struct sp_group_stage_head */
#include "base/mem.h"
#include "group/stored.h"

enum { PAGE_FORMAT = 1, MEMBER_FORMAT = 1 };
enum {
    HAS_TARGET = 1,
    HAS_WINNER_URL = 2,
    HAS_PENDING = 4,
    IN_CELL = 8,
    ANNOUNCED = 16,
    MOVED = 32,
    CONTAINED = 64
};
enum { GROUP_PARTED = 128, GROUP_LARGE = 64 }; /* beside the level */
_Static_assert((int)SP_GROUP_LEVELS <= (int)GROUP_LARGE, "the level is below these bits");
enum {
    MEMBER_PARENT = 1,
    MEMBER_WINNER = 2,
    MEMBER_TARGET = 4,
    MEMBER_WORDS = 8,
    MEMBER_OLD_VERSION = 16, /* what it was told was about another version */
    MEMBER_OLD_EPOCH = 32,   /* or in another group */
    MEMBER_PATTERN = 64
};

void sp_page_actor_key(struct sp_group_stage *st, struct sp_id id)
{
    sp_buf_reset(&st->key);
    sp_buf_put_u8(&st->key, 'P');
    sp_buf_put(&st->key, &id, sizeof id);
}

void sp_group_key(struct sp_group_stage *st, char kind, struct sp_group_id id)
{
    sp_buf_reset(&st->key);
    sp_buf_put_u8(&st->key, (uint8_t)kind);
    sp_buf_put_u64(&st->key, id.birth);
    sp_buf_put(&st->key, &id.founder, sizeof id.founder);
}

static void put_float(struct sp_buf *out, float x)
{
    sp_buf_put(out, &x, sizeof x);
}

static float read_float(struct sp_reader *r)
{
    float x = 0;
    struct sp_view v = sp_read_bytes(r, sizeof x);
    if (v.len)
        memcpy(&x, v.data, sizeof x);
    return x;
}

static void put_text(struct sp_buf *out, const char *text)
{
    size_t len = strlen(text);
    sp_buf_put_varint(out, len);
    sp_buf_put(out, text, len);
}

static char *read_text(struct sp_reader *r)
{
    return sp_view_dup(sp_read_bytes(r, sp_read_varint(r)));
}

/* Unsigned arithmetic, because a damaged row may hold any two numbers. */
static void put_versions(struct sp_buf *out, int64_t version, int64_t content_version)
{
    sp_buf_put_varint(out, (uint64_t)version);
    sp_buf_put_varint(out, (uint64_t)version - (uint64_t)content_version);
}

static void read_versions(struct sp_reader *r, int64_t *ret_version, int64_t *ret_content_version)
{
    uint64_t version = sp_read_varint(r);
    *ret_version = (int64_t)version;
    *ret_content_version = (int64_t)(version - sp_read_varint(r));
}

static void put_rank(struct sp_buf *out, const struct sp_rank *rank)
{
    sp_buf_put(out, &rank->popularity, sizeof rank->popularity);
    sp_buf_put_varint(out, rank->url_bytes);
    sp_buf_put_u8(out, (uint8_t)(rank->dynamic | rank->unfavoured << 1));
}

static struct sp_rank read_rank(struct sp_reader *r)
{
    struct sp_rank rank = {0};
    struct sp_view v = sp_read_bytes(r, sizeof rank.popularity);
    if (v.len)
        memcpy(&rank.popularity, v.data, sizeof rank.popularity);
    rank.url_bytes = (uint32_t)sp_read_varint(r);
    uint8_t bits = sp_read_u8(r);
    rank.dynamic = bits & 1;
    rank.unfavoured = bits >> 1 & 1;
    return rank;
}

void sp_page_actor_encode(const struct sp_page_actor *p, struct sp_buf *out)
{
    bool redirects = p->kind == SP_PAGE_REDIRECT;
    uint8_t bits = (uint8_t)((redirects ? HAS_TARGET : 0) | (p->winner_url ? HAS_WINNER_URL : 0) |
                             (p->pending ? HAS_PENDING : 0) | (p->in_cell ? IN_CELL : 0) |
                             (p->announced ? ANNOUNCED : 0) | (p->moved ? MOVED : 0) |
                             (p->contained_in ? CONTAINED : 0));
    sp_buf_put_u8(out, PAGE_FORMAT);
    sp_buf_put_u8(out, bits);
    sp_buf_put_u8(out, (uint8_t)(p->kind | p->status << 4));
    sp_buf_put_u8(out, (uint8_t)(p->reason | (unsigned)p->rule << 4));
    put_text(out, p->url);
    put_versions(out, p->version, p->content_version);
    sp_buf_put_id(out, p->content);
    put_rank(out, &p->rank);
    sp_buf_put_varint(out, p->group.birth);
    sp_buf_put_id(out, p->group.founder);
    sp_buf_put_varint(out, p->epoch);
    put_float(out, p->similarity);
    sp_buf_put_varint(out, p->group_size);
    if (redirects) {
        sp_buf_put_id(out, p->target);
        put_text(out, p->target_url ? p->target_url : "");
    }
    if (p->winner_url)
        put_text(out, p->winner_url);
    if (p->in_cell) {
        sp_buf_put_varint(out, p->cell);
        sp_buf_put_id(out, p->cell_content);
    }
    if (p->contained_in) {
        put_text(out, p->contained_in);
        put_float(out, p->containment);
    }
    sp_buf_put_varint(out, p->inline_bytes);
    sp_buf_put(out, p->inline_group, p->inline_bytes);
    if (p->pending)
        sp_signature_encode(p->pending, out);
}

static void read_page_parts(struct sp_reader *r, uint8_t bits, struct sp_page_actor *p)
{
    if (bits & HAS_TARGET) {
        p->target = sp_read_id(r);
        char *url = read_text(r);
        if (bits & ANNOUNCED) /* written before redirects gave their target's URL away */
            sp_free(url);
        else
            p->target_url = url;
    }
    if (bits & HAS_WINNER_URL)
        p->winner_url = read_text(r);
    if (bits & IN_CELL) {
        p->in_cell = true;
        p->cell = (uint32_t)sp_read_varint(r);
        p->cell_content = sp_read_id(r);
    }
    if (bits & CONTAINED) {
        p->contained_in = read_text(r);
        p->containment = read_float(r);
    }
    struct sp_view inlined = sp_read_bytes(r, sp_read_varint(r));
    if (inlined.len) {
        p->inline_group = sp_memdup(inlined.data, inlined.len);
        p->inline_bytes = (uint32_t)inlined.len;
    }
}

enum sp_err sp_page_actor_decode(struct sp_view in, struct sp_page_actor *p)
{
    struct sp_reader r = sp_reader(in);
    if (sp_read_u8(&r) != PAGE_FORMAT)
        return SP_CORRUPT;
    uint8_t bits = sp_read_u8(&r), kinds = sp_read_u8(&r), whys = sp_read_u8(&r);
    p->kind = (enum sp_page_kind)(kinds & 15);
    p->status = (enum sp_page_status)(kinds >> 4);
    p->reason = (enum sp_reason)(whys & 15);
    p->rule = (enum sp_rank_rule)(whys >> 4);
    p->announced = (bits & ANNOUNCED) != 0;
    p->moved = (bits & MOVED) != 0;
    p->url = read_text(&r);
    read_versions(&r, &p->version, &p->content_version);
    p->content = sp_read_id(&r);
    p->rank = read_rank(&r);
    p->group.birth = sp_read_varint(&r);
    p->group.founder = sp_read_id(&r);
    p->epoch = sp_read_varint(&r);
    p->similarity = read_float(&r);
    p->group_size = (uint32_t)sp_read_varint(&r);
    read_page_parts(&r, bits, p);
    if (r.failed || p->kind > SP_PAGE_DEAD || p->status > SP_STATUS_GONE ||
        p->reason > SP_REASON_EXACT || p->rule > SP_RANK_OVERRIDE)
        return SP_CORRUPT;
    if (bits & HAS_PENDING)
        return sp_signature_decode(sp_view(r.at, sp_reader_left(&r)), &p->pending) ? SP_CORRUPT
                                                                                   : SP_OK;
    return sp_reader_left(&r) ? SP_CORRUPT : SP_OK;
}

void sp_member_encode(const struct sp_member *m, struct sp_buf *out)
{
    uint8_t bits = (uint8_t)((m->parent ? MEMBER_PARENT : 0) |
                             (!sp_id_is_zero(m->said_winner) ? MEMBER_WINNER : 0) |
                             (m->kind == SP_PAGE_REDIRECT ? MEMBER_TARGET : 0) |
                             (m->words ? MEMBER_WORDS : 0) |
                             (m->said_version != m->content_version ? MEMBER_OLD_VERSION : 0) |
                             (m->said_epoch != m->epoch ? MEMBER_OLD_EPOCH : 0) |
                             (sp_pattern_is_stored(m) ? MEMBER_PATTERN : 0));
    sp_buf_put_u8(out, MEMBER_FORMAT);
    sp_buf_put_u8(out, bits);
    sp_buf_put_u8(out, (uint8_t)(m->kind | m->said_status << 4));
    sp_buf_put_u8(out, (uint8_t)m->said_reason);
    put_text(out, m->url);
    put_versions(out, m->version, m->content_version);
    sp_buf_put_id(out, m->content);
    put_rank(out, &m->rank);
    sp_buf_put_varint(out, m->epoch);
    put_float(out, m->said_similarity);
    if (bits & MEMBER_TARGET)
        sp_buf_put_id(out, m->target);
    if (bits & MEMBER_PARENT)
        sp_buf_put_id(out, m->parent->page);
    if (bits & MEMBER_WINNER)
        sp_buf_put_id(out, m->said_winner);
    if (bits & MEMBER_PATTERN)
        sp_pattern_encode(m, out);
}

/* Most steps end by telling pages their status, so at a flush most members know the status of their
 * version, which is stored only once. Those that do not are told by a round: of what they were told
 * it only matters that it was about another version, and not about one that is still to come. */
static enum sp_err member_read(struct sp_reader *r, struct sp_member *m, struct sp_id *ret_parent,
                               struct sp_view *ret_pattern)
{
    if (sp_read_u8(r) != MEMBER_FORMAT)
        return SP_CORRUPT;
    uint8_t bits = sp_read_u8(r), kinds = sp_read_u8(r);
    m->kind = (enum sp_page_kind)(kinds & 15);
    m->said_status = (enum sp_page_status)(kinds >> 4);
    m->said_reason = (enum sp_reason)sp_read_u8(r);
    m->url = read_text(r);
    read_versions(r, &m->version, &m->content_version);
    m->content = sp_read_id(r);
    m->rank = read_rank(r);
    m->epoch = sp_read_varint(r);
    m->said_similarity = m->similarity = read_float(r);
    m->said_epoch = m->epoch - (bits & MEMBER_OLD_EPOCH ? 1 : 0);
    m->said_version = (int64_t)((uint64_t)m->content_version - (bits & MEMBER_OLD_VERSION ? 1 : 0));
    if (bits & MEMBER_TARGET)
        m->target = sp_read_id(r);
    *ret_parent = bits & MEMBER_PARENT ? sp_read_id(r) : (struct sp_id){0, 0};
    m->words = bits & MEMBER_WORDS;
    if (bits & MEMBER_WINNER)
        m->said_winner = sp_read_id(r);
    *ret_pattern = sp_read_bytes(r, bits & MEMBER_PATTERN ? SP_PATTERN_BYTES : 0);
    if (r->failed || m->kind > SP_PAGE_DEAD || m->said_status > SP_STATUS_GONE ||
        m->said_reason > SP_REASON_EXACT)
        return SP_CORRUPT;
    return SP_OK;
}

enum sp_err sp_member_decode(struct sp_view key, struct sp_view value, struct sp_member *m,
                             struct sp_id *ret_parent, struct sp_view *ret_pattern)
{
    struct sp_reader r = sp_reader(value);
    if (key.len < sizeof m->page)
        return SP_CORRUPT;
    memcpy(&m->page, key.data + key.len - sizeof m->page, sizeof m->page);
    enum sp_err err = member_read(&r, m, ret_parent, ret_pattern);
    return err == SP_OK && sp_reader_left(&r) ? SP_CORRUPT : err;
}

/* ---- groups ---- */

/* The order that 'M' rows would have. */
static void sort_by_bytes(const struct sp_member **members, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        const struct sp_member *m = members[i];
        uint32_t at = i;
        for (; at > 0 && memcmp(&members[at - 1]->page, &m->page, sizeof m->page) > 0; at--)
            members[at] = members[at - 1];
        members[at] = m;
    }
}

void sp_group_encode(const struct sp_group *g, bool packed, struct sp_buf *out)
{
    const struct sp_member *members[SP_PACKED_MEMBERS];
    sp_buf_put_u8(
        out, (uint8_t)(g->level | (g->parted ? GROUP_PARTED : 0) | (g->large ? GROUP_LARGE : 0)));
    sp_buf_put_varint(out, g->told_least);
    sp_buf_put_varint(out, g->told_most);
    sp_buf_put_varint(out, g->open_count);
    for (uint32_t i = 0; i < g->open_count; i++) {
        sp_buf_put_u64(out, g->opens[i].birth);
        sp_buf_put_id(out, g->opens[i].founder);
    }
    if (!packed)
        return;
    SP_ASSERT(g->count <= SP_PACKED_MEMBERS);
    memcpy(members, g->members, g->count * sizeof(struct sp_member *));
    sort_by_bytes(members, g->count);
    for (uint32_t i = 0; i < g->count; i++) {
        sp_buf_put_id(out, members[i]->page);
        sp_member_encode(members[i], out);
    }
}

enum sp_err sp_group_decode(struct sp_reader *r, struct sp_group *g)
{
    uint8_t level = sp_read_u8(r);
    g->parted = g->stored_parted = (level & GROUP_PARTED) != 0;
    g->was_large = g->stored_large = (level & GROUP_LARGE) != 0;
    g->level = g->stored_level = level & (GROUP_LARGE - 1);
    g->told_least = (uint32_t)sp_read_varint(r);
    g->told_most = (uint32_t)sp_read_varint(r);
    uint64_t opens = sp_read_varint(r);
    if (r->failed || g->level >= SP_GROUP_LEVELS ||
        opens > sp_reader_left(r) / sizeof(struct sp_group_id))
        return SP_CORRUPT;
    sp_grow(&g->opens, &g->open_cap, (uint32_t)opens);
    for (; g->open_count < opens; g->open_count++) {
        g->opens[g->open_count].birth = sp_read_u64(r);
        g->opens[g->open_count].founder = sp_read_id(r);
    }
    g->unsure = opens > 0;
    return r->failed ? SP_CORRUPT : SP_OK;
}

enum sp_err sp_member_read_packed(struct sp_reader *r, struct sp_member *m,
                                  struct sp_id *ret_parent)
{
    struct sp_view none; /* the group is small */
    m->page = sp_read_id(r);
    return member_read(r, m, ret_parent, &none);
}

/* ---- departures ---- */

enum { EDGES_URL = 1 };

void sp_edges_encode(const struct sp_message *m, struct sp_buf *out)
{
    const struct sp_link *link = &m->link;
    sp_buf_put_id(out, m->page);
    sp_buf_put_u64(out, (uint64_t)link->content_version);
    sp_buf_put_u8(out, link->url ? EDGES_URL : 0);
    if (link->url)
        put_text(out, link->url);
    for (uint32_t i = 0; i < link->edge_count; i++) {
        sp_buf_put_id(out, link->edges[i].page);
        sp_buf_put_u64(out, (uint64_t)link->edges[i].content_version);
    }
}

enum sp_err sp_edges_decode(struct sp_reader *r, struct sp_message *m)
{
    enum { EDGE_BYTES = sizeof(struct sp_id) + sizeof(uint64_t) };
    struct sp_link *link = &m->link;
    m->page = sp_read_id(r);
    link->content_version = (int64_t)sp_read_u64(r);
    if (sp_read_u8(r) & EDGES_URL)
        link->url = read_text(r);
    uint32_t count = (uint32_t)(sp_reader_left(r) / EDGE_BYTES);
    if (r->failed || sp_reader_left(r) % EDGE_BYTES)
        return SP_CORRUPT;
    link->edges = sp_calloc(count + 1, sizeof *link->edges);
    for (; link->edge_count < count; link->edge_count++) {
        link->edges[link->edge_count].page = sp_read_id(r);
        link->edges[link->edge_count].content_version = (int64_t)sp_read_u64(r);
    }
    return SP_OK;
}
