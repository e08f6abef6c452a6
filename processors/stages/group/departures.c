/* See departures.h. */
#include "group/departures.h"

#include "base/mem.h"
#include "group/large.h"
#include "group/stored.h"

struct sp_departure {
    struct sp_departure *next;
    uint64_t number; /* they are sent in this order */
    struct sp_group_id from;
    struct sp_group_id to;
    struct sp_message *last;
    struct sp_leaver *leavers; /* those before `sent` are sent */
    uint32_t sent;
    uint32_t count;
    uint32_t cap;
    bool stored;               /* and all its members are */
    bool more;                 /* behind these, others are in the store only */
    struct sp_id read_content; /* the last one read from there */
    struct sp_id read_page;
};

/* A row that is deleted at the next flush. */
struct sp_departed {
    uint64_t number;
    struct sp_id content;
    struct sp_id page;
    bool head; /* 'D' */
};

/* ---- rows ---- */

enum { NUMBER_AT = 1, NUMBER_BYTES = 8 };

static void put_key(struct sp_group_stage *st, char kind, uint64_t number)
{
    sp_buf_reset(&st->key);
    sp_buf_put_u8(&st->key, (uint8_t)kind);
    sp_buf_put_big_endian(&st->key, number, NUMBER_BYTES);
}

static void row_key(struct sp_group_stage *st, uint64_t number, struct sp_id content,
                    struct sp_id page)
{
    put_key(st, 'L', number);
    sp_buf_put_id(&st->key, content);
    sp_buf_put_id(&st->key, page);
}

static void flush_head(struct sp_group_stage *st, const struct sp_departure *d)
{
    put_key(st, 'D', d->number);
    sp_buf_reset(&st->value);
    sp_buf_put_u64(&st->value, d->from.birth);
    sp_buf_put_id(&st->value, d->from.founder);
    sp_buf_put_u64(&st->value, d->to.birth);
    sp_buf_put_id(&st->value, d->to.founder);
    if (d->last)
        sp_edges_encode(d->last, &st->value);
    sp_store_put(st->store, sp_buf_view(&st->key), sp_buf_view(&st->value));
}

static void flush_leaver(struct sp_group_stage *st, const struct sp_departure *d,
                         const struct sp_leaver *l)
{
    const struct sp_member_row *row = &l->row;
    struct sp_member parent = {.page = row->parent};
    struct sp_member m = {.page = row->page,
                          .version = row->version,
                          .content_version = row->content_version,
                          .kind = row->kind,
                          .content = l->content,
                          .target = row->target,
                          .rank = row->rank,
                          .url = row->url,
                          .epoch = row->epoch,
                          .parent = sp_id_is_zero(row->parent) ? NULL : &parent};
    sp_buf_reset(&st->value);
    sp_member_encode(&m, &st->value);
    row_key(st, d->number, l->content, row->page);
    sp_store_put(st->store, sp_buf_view(&st->key), sp_buf_view(&st->value));
}

struct sp_leaver sp_leaver_of(const struct sp_member *m, struct sp_id parent)
{
    return (struct sp_leaver){.row = {.page = m->page,
                                      .version = m->version,
                                      .content_version = m->content_version,
                                      .kind = m->kind,
                                      .target = m->target,
                                      .rank = m->rank,
                                      .url = m->url,
                                      .epoch = m->epoch,
                                      .parent = parent},
                              .content = m->content};
}

static struct sp_leaver *leaver_add(struct sp_departure *d)
{
    sp_grow(&d->leavers, &d->cap, d->count + 1);
    return &d->leavers[d->count++];
}

/* ---- reading ---- */

struct slice {
    struct sp_departure *d;
    uint32_t left;
    enum sp_err err;
};

static bool read_leaver(void *arg, struct sp_view key, struct sp_view value)
{
    struct slice *s = arg;
    struct sp_departure *d = s->d;
    struct sp_member m = {.page = {0, 0}};
    struct sp_id parent = {0, 0};
    struct sp_view none;
    s->err = sp_member_decode(key, value, &m, &parent, &none);
    if (s->err != SP_OK) {
        sp_free(m.url);
        return false;
    }
    *leaver_add(d) = sp_leaver_of(&m, parent);
    d->read_content = m.content;
    d->read_page = m.page;
    return --s->left > 0;
}

/* A slice has at least one row more than a message. */
static uint32_t slice_rows(const struct sp_group_stage *st)
{
    enum { PER_ROW = 8 };
    return PER_ROW * sp_group_rows_at_once(st);
}

static void read_slice(struct sp_group_stage *st, struct sp_departure *d)
{
    struct slice s = {d, slice_rows(st), SP_OK};
    struct sp_buf from = {0};
    row_key(st, d->number, d->read_content, d->read_page);
    sp_buf_put(&from, st->key.data, st->key.len);
    sp_buf_put_u8(&from, 0); /* the first key after it */
    bool begins = sp_id_is_zero(d->read_content) && sp_id_is_zero(d->read_page);
    enum sp_err err =
        sp_store_scan(st->store, sp_view(st->key.data, NUMBER_AT + NUMBER_BYTES),
                      begins ? sp_view(NULL, 0) : sp_buf_view(&from), read_leaver, &s);
    sp_buf_done(&from);
    d->more = s.left == 0;
    sp_group_stage_note(st, err);
    sp_group_stage_note(st, s.err);
}

/* ---- sending ---- */

static void departure_done(struct sp_departure *d)
{
    for (uint32_t i = d->sent; i < d->count; i++)
        sp_free(d->leavers[i].row.url);
    sp_free(d->leavers);
    sp_message_free(d->last);
}

static void note_sent(struct sp_group_stage *st, struct sp_departed row)
{
    sp_grow(&st->departed, &st->departed_cap, st->departed_count + 1);
    st->departed[st->departed_count++] = row;
}

/* Gives the row its signature, which is borrowed. Returns approximately how many bytes it adds to a
 * message, after the row `before`. */
static size_t complete(struct sp_group_stage *st, struct sp_leaver *l,
                       const struct sp_leaver *before)
{
    enum { IDS_AND_NUMBERS = 120 };
    struct sp_signature *s = NULL;
    size_t bytes = IDS_AND_NUMBERS + strlen(l->row.url);
    if (l->row.kind != SP_PAGE_CONTENT)
        return bytes;
    enum sp_err err = sp_contents_get(st->contents, l->content, &s);
    sp_group_stage_note(st, err);
    l->row.signature = s;
    bool sent = before && sp_id_eq(before->content, l->content);
    return bytes + (s && !sent ? sp_signature_bytes(s) : 0);
}

/* The end of the message that begins with the row d->sent; completes its rows. */
static uint32_t part_end(struct sp_group_stage *st, struct sp_departure *d)
{
    size_t most = st->options.message_bytes ? st->options.message_bytes : SP_GROUP_MESSAGE_BYTES;
    size_t sum = 0;
    uint32_t end = d->sent, rows = slice_rows(st);
    for (; end < d->count && end - d->sent < rows && !st->err; end++) {
        struct sp_leaver *l = &d->leavers[end];
        size_t bytes = complete(st, l, end > d->sent ? l - 1 : NULL);
        if (end > d->sent && sum + bytes > most)
            break;
        sum += bytes;
    }
    return end;
}

static void fill(struct sp_group_stage *st, struct sp_departure *d)
{
    while (d->more && d->count - d->sent <= slice_rows(st) && !st->err) {
        d->count -= d->sent;
        if (d->sent)
            memmove(d->leavers, d->leavers + d->sent, d->count * sizeof *d->leavers);
        d->sent = 0;
        read_slice(st, d);
    }
}

/* Tells the page where it is now. Moves the row into the message. */
static struct sp_member_row take_out(struct sp_group_stage *st, const struct sp_departure *d,
                                     struct sp_leaver *l)
{
    struct sp_member_row row = l->row;
    struct sp_message *a = sp_message_new(SP_MSG_ASSIGNED);
    if (row.signature) {
        sp_signature_ref(row.signature);
        sp_member_drop_content(st, l->content);
    }
    a->page = row.page;
    a->assigned.far = d->to;
    a->assigned.epoch = row.epoch;
    sp_group_stage_send(st, a);
    if (d->stored)
        note_sent(st, (struct sp_departed){d->number, l->content, row.page, false});
    l->row.url = NULL;
    return row;
}

/* The message that takes the next rows. */
static struct sp_message *next_message(struct sp_departure *d, bool more)
{
    struct sp_message *m = more ? NULL : d->last;
    if (!m)
        return sp_message_new(SP_MSG_MEMBERS);
    d->last = NULL;
    sp_message_turn(m, SP_MSG_MEMBERS);
    return m;
}

static void send_part(struct sp_group_stage *st, struct sp_departure *d)
{
    fill(st, d);
    uint32_t end = part_end(st, d);
    if (st->err)
        return;
    bool more = end < d->count || d->more;
    struct sp_message *m = next_message(d, more);
    struct sp_link *link = &m->link;
    link->far = d->from;
    link->group = d->to;
    link->more = more;
    link->row_count = end - d->sent;
    link->rows = sp_alloc(link->row_count * sizeof *link->rows);
    for (uint32_t i = 0; i < link->row_count; i++)
        link->rows[i] = take_out(st, d, &d->leavers[d->sent + i]);
    d->sent = end;
    sp_group_stage_send(st, m);
}

static bool is_sent(const struct sp_departure *d)
{
    return d->sent == d->count && !d->more;
}

static uint32_t parts_at_once(const struct sp_group_stage *st)
{
    enum { PARTS = 4 };
    return st->options.parts_at_once ? st->options.parts_at_once : PARTS;
}

void sp_depart(struct sp_group_stage *st, struct sp_group_id from, struct sp_group_id to,
               struct sp_leaver *leavers, uint32_t count, struct sp_message *last)
{
    struct sp_departure d = {
        .from = from, .to = to, .last = last, .leavers = leavers, .count = count, .cap = count};
    bool behind = sp_departures_include(st, from, to) && st->options.canary != SP_CANARY_OVERTAKE;
    for (uint32_t i = 0; i < parts_at_once(st) && !behind && !is_sent(&d) && !st->err; i++)
        send_part(st, &d);
    if (is_sent(&d)) {
        departure_done(&d);
        return;
    }
    d.number = ++st->departure_number;
    *st->departures_end = sp_memdup(&d, sizeof d);
    st->departures_end = &(*st->departures_end)->next;
}

bool sp_departures_include(const struct sp_group_stage *st, struct sp_group_id from,
                           struct sp_group_id to)
{
    const struct sp_departure *d = st->departures;
    while (d && !(sp_group_id_eq(d->from, from) && sp_group_id_eq(d->to, to)))
        d = d->next;
    return d;
}

bool sp_group_stage_send_departed(struct sp_group_stage *st, uint32_t parts)
{
    for (; parts > 0 && st->departures && !st->err; parts--) {
        struct sp_departure *d = st->departures;
        uint32_t before = d->sent;
        send_part(st, d);
        st->stats.departed += d->sent - before;
        if (!is_sent(d))
            continue;
        if (d->stored)
            note_sent(st, (struct sp_departed){.number = d->number, .head = true});
        st->departures = d->next;
        if (!d->next)
            st->departures_end = &st->departures;
        departure_done(d);
        sp_free(d);
    }
    if (!st->departures)
        st->departure_steps = 0;
    return st->departures && !st->err;
}

void sp_departures_step(struct sp_group_stage *st)
{
    enum { STEPS_PER_PART = 64 };
    if (!st->departures || ++st->departure_steps < STEPS_PER_PART)
        return;
    st->departure_steps = 0;
    sp_group_stage_send_departed(st, 1);
}

/* ---- stored ---- */

static bool load_head(void *arg, struct sp_view key, struct sp_view value)
{
    struct sp_group_stage *st = arg;
    struct sp_departure d = {.stored = true, .more = true};
    struct sp_reader r = sp_reader(value);
    enum sp_err err = SP_OK;
    d.from.birth = sp_read_u64(&r);
    d.from.founder = sp_read_id(&r);
    d.to.birth = sp_read_u64(&r);
    d.to.founder = sp_read_id(&r);
    if (r.failed || key.len != NUMBER_AT + NUMBER_BYTES)
        err = SP_CORRUPT;
    else if (sp_reader_left(&r))
        err = sp_edges_decode(&r, d.last = sp_message_new(SP_MSG_MEMBERS));
    if (err != SP_OK) {
        sp_group_stage_note(st, err);
        sp_message_free(d.last);
        return false;
    }
    d.number = st->departure_number = sp_get_big_endian(key.data + NUMBER_AT, NUMBER_BYTES);
    *st->departures_end = sp_memdup(&d, sizeof d);
    st->departures_end = &(*st->departures_end)->next;
    return true;
}

enum sp_err sp_departures_load(struct sp_group_stage *st)
{
    st->departures_end = &st->departures;
    enum sp_err err = sp_store_scan(st->store, sp_view("D", 1), sp_view(NULL, 0), load_head, st);
    return st->err ? st->err : err;
}

static void delete_rows(struct sp_group_stage *st)
{
    for (uint32_t i = 0; i < st->departed_count; i++) {
        const struct sp_departed *row = &st->departed[i];
        if (row->head)
            put_key(st, 'D', row->number);
        else
            row_key(st, row->number, row->content, row->page);
        sp_store_delete(st->store, sp_buf_view(&st->key));
    }
    st->departed_count = 0;
}

/* From now on they are read from the store. */
static void flush_departure(struct sp_group_stage *st, struct sp_departure *d)
{
    flush_head(st, d);
    for (uint32_t i = d->sent; i < d->count; i++) {
        flush_leaver(st, d, &d->leavers[i]);
        sp_free(d->leavers[i].row.url);
    }
    sp_free(d->leavers);
    d->leavers = NULL;
    d->sent = d->count = d->cap = 0;
    d->stored = d->more = true;
}

void sp_departures_flush(struct sp_group_stage *st)
{
    delete_rows(st);
    for (struct sp_departure *d = st->departures; d; d = d->next)
        if (!d->stored)
            flush_departure(st, d);
}

void sp_departures_free(struct sp_group_stage *st)
{
    for (struct sp_departure *d = st->departures, *next; d; d = next) {
        next = d->next;
        departure_done(d);
        sp_free(d);
    }
    sp_free(st->departed);
}
