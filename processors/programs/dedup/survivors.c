/* See survivors.h. Kept documents are numbered; the number is the slot in the candidate index. Ids
 * are in the store. Ids of the open batch, which cannot be read, are in memory until the flush.
 *
 * The candidate index is small and quick, but its lists grow with a template: each of its pages is
 * a candidate for each other one. After too many comparisons an index of stars (crowd.h) takes its
 * place. Both find the same documents, so it does not matter when. */
#include "dedup/survivors.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/json_write.h"
#include "base/map.h"
#include "base/mem.h"
#include "candidates/candidates.h"
#include "contents/contents.h"
#include "dedup/crowd.h"

/* Comparisons before the index changes: so many, and so many for each document that was looked up.
 * Collections without large groups or templates have a few for each. Some postings cost as much as
 * a comparison: a sentence that all pages of a site share is in a long list, but alone makes no
 * candidate. */
enum { COMPARED_FEW = 1 << 16, COMPARED_EACH = 32, WALKED_AS_ONE = 32 };

struct survivor {
    struct sp_id content; /* key of the map: first */
    uint32_t slot;
    bool indexed; /* while loading: its signature was found */
};

struct sp_survivors {
    struct sp_similarity_options similarity;
    struct sp_candidate_rule rule;
    struct sp_store *store;
    struct sp_contents *contents;
    struct sp_candidates *index; /* NULL: the crowd is used */
    struct sp_crowd *crowd;
    uint64_t looked_up;
    uint64_t compared;
    uint64_t walked; /* postings, by the index that was replaced */
    struct sp_map by_content;
    struct survivor **slots;
    uint32_t slot_cap;
    uint32_t count;
    uint32_t flushed;       /* slots whose rows are in the store */
    struct sp_view *recent; /* ids of the other slots; may hold NULs */
    size_t recent_cap;
    uint64_t stands_for; /* number of the next 'R' row */
    struct sp_buf row;
    enum sp_err err; /* of a scan */
};

struct sp_survivors *sp_survivors_new(const struct sp_similarity_options *similarity,
                                      struct sp_store *store, size_t cache_bytes)
{
    struct sp_survivors *s = sp_calloc(1, sizeof *s);
    s->similarity = *similarity;
    s->rule = sp_candidate_rule(similarity->method, similarity->threshold);
    s->store = store;
    s->contents = sp_contents_new(store, 1, cache_bytes);
    s->index = sp_candidates_new(&s->rule);
    return s;
}

void sp_survivors_free(struct sp_survivors *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->count; i++)
        sp_free(s->slots[i]);
    for (uint32_t i = s->flushed; i < s->count; i++)
        sp_free((char *)(uintptr_t)s->recent[i - s->flushed].data);
    sp_free(s->slots);
    sp_free(s->recent);
    sp_map_done(&s->by_content);
    sp_candidates_free(s->index);
    sp_crowd_free(s->crowd);
    sp_contents_free(s->contents);
    sp_buf_done(&s->row);
    sp_free(s);
}

uint64_t sp_survivors_count(const struct sp_survivors *s)
{
    return s->count;
}

/* ---- rows ---- */

static struct sp_view id_key(struct sp_survivors *s, uint32_t slot)
{
    sp_buf_reset(&s->row);
    sp_buf_put_u8(&s->row, 'I');
    sp_buf_put_big_endian(&s->row, slot, 4);
    return sp_buf_view(&s->row);
}

static void add_slot(struct sp_survivors *s, struct sp_id content)
{
    struct survivor *v = sp_alloc(sizeof *v);
    *v = (struct survivor){content, s->count, false};
    sp_grow(&s->slots, &s->slot_cap, s->count + 1);
    s->slots[s->count++] = v;
    sp_map_add(&s->by_content, v);
}

static bool load_id(void *arg, struct sp_view key, struct sp_view value)
{
    struct sp_survivors *s = arg;
    struct sp_reader r = sp_reader(key), v = sp_reader(value);
    sp_read_u8(&r);
    uint64_t slot = sp_read_big_endian(&r, 4);
    struct sp_view content = sp_read_bytes(&v, sizeof(struct sp_id));
    struct sp_id id;
    if (r.failed || v.failed || slot != s->count || s->count == SP_SURVIVORS_MAX) {
        s->err = SP_CORRUPT;
        return false;
    }
    memcpy(&id, content.data, sizeof id);
    if (sp_map_get(&s->by_content, id)) {
        s->err = SP_CORRUPT;
        return false;
    }
    add_slot(s, id);
    return true;
}

static bool load_last(void *arg, struct sp_view key, struct sp_view value)
{
    struct sp_survivors *s = arg;
    struct sp_reader r = sp_reader(key);
    (void)value;
    sp_read_bytes(&r, 5);
    uint64_t number = sp_read_big_endian(&r, 8);
    if (r.failed)
        s->err = SP_CORRUPT;
    else if (number >= s->stands_for)
        s->stands_for = number + 1;
    return s->err == SP_OK;
}

static void index_signature(void *arg, struct sp_signature *signature)
{
    struct sp_survivors *s = arg;
    struct survivor *v = sp_map_get(&s->by_content, signature->content_hash);
    uint32_t scratch[SP_SKETCH_MAX], count;
    if (!v || v->indexed) {
        s->err = SP_CORRUPT;
        return;
    }
    v->indexed = true;
    const uint32_t *keys = sp_candidate_keys(&s->rule, signature, scratch, &count);
    sp_candidates_add_later(s->index, v->slot, keys, count);
}

enum sp_err sp_survivors_load(struct sp_survivors *s)
{
    struct sp_view nowhere = sp_view(NULL, 0);
    enum sp_err err = sp_store_scan(s->store, sp_view_str("I"), nowhere, load_id, s);
    if (err == SP_OK)
        err = sp_store_scan(s->store, sp_view_str("R"), nowhere, load_last, s);
    s->flushed = s->count;
    if (err == SP_OK && s->err == SP_OK)
        err = sp_contents_each(s->store, index_signature, s);
    sp_candidates_settle(s->index);
    for (uint32_t i = 0; i < s->count; i++)
        if (!s->slots[i]->indexed)
            s->err = SP_CORRUPT;
    return err != SP_OK ? err : s->err;
}

/* ---- one document ---- */

static enum sp_err id_of(struct sp_survivors *s, uint32_t slot, struct sp_view *ret_id)
{
    struct sp_view value;
    if (slot >= s->flushed) {
        *ret_id = s->recent[slot - s->flushed];
        return SP_OK;
    }
    enum sp_err err = sp_store_get(s->store, id_key(s, slot), &value);
    if (err != SP_OK)
        return err == SP_NOT_FOUND ? SP_CORRUPT : err;
    if (value.len < sizeof(struct sp_id))
        return SP_CORRUPT;
    *ret_id = sp_view(value.data + sizeof(struct sp_id), value.len - sizeof(struct sp_id));
    return SP_OK;
}

static void prefetch(struct sp_survivors *s, const uint32_t *slots, size_t count)
{
    struct sp_id contents[SP_CONTENTS_PREFETCHED];
    if (count > SP_CONTENTS_PREFETCHED)
        count = SP_CONTENTS_PREFETCHED;
    for (size_t i = 0; i < count; i++)
        contents[i] = s->slots[slots[i]]->content;
    sp_contents_prefetch_all(s->contents, contents, count);
}

/* Finds the most similar of these slots, the first of equals. */
static enum sp_err compare(struct sp_survivors *s, const struct sp_signature *signature,
                           const uint32_t *slots, size_t count, struct sp_survivor_match *best)
{
    s->compared += count;
    for (size_t i = 0; i < count; i++) {
        struct sp_signature *other;
        double similarity;
        if (i % SP_CONTENTS_PREFETCHED == 0)
            prefetch(s, slots + i, count - i);
        enum sp_err err = sp_contents_get(s->contents, s->slots[slots[i]]->content, &other);
        if (err != SP_OK)
            return err;
        if (!sp_candidate_pair(&s->rule, signature, other) ||
            !sp_similar(&s->similarity, signature, other, &similarity) ||
            similarity < best->similarity ||
            (similarity == best->similarity && slots[i] > best->slot))
            continue;
        best->slot = slots[i];
        best->similarity = similarity;
    }
    return SP_OK;
}

static enum sp_err signature_of(void *arg, uint32_t slot, const struct sp_signature **ret_signature)
{
    struct sp_survivors *s = arg;
    struct sp_signature *signature = NULL;
    enum sp_err err = sp_contents_get(s->contents, s->slots[slot]->content, &signature);
    *ret_signature = signature;
    return err;
}

static uint64_t name_of(void *arg, uint32_t slot)
{
    const struct sp_survivors *s = arg;
    return s->slots[slot]->content.lo;
}

static void prefetch_slots(void *arg, const uint32_t *slots, size_t count)
{
    prefetch(arg, slots, count);
}

/* Puts all documents into an index of stars, if the other one led to too many comparisons. */
static enum sp_err change_index(struct sp_survivors *s)
{
    enum sp_err err = SP_OK;
    if (!s->index || !sp_method_info(s->similarity.method)->jaccard ||
        s->compared + sp_candidates_walked(s->index) / WALKED_AS_ONE <
            COMPARED_FEW + COMPARED_EACH * s->looked_up)
        return SP_OK;
    s->walked = sp_candidates_walked(s->index);
    sp_candidates_free(s->index);
    s->index = NULL;
    s->crowd = sp_crowd_new(&(struct sp_stars_options){.similarity = s->similarity,
                                                       .signature = signature_of,
                                                       .name = name_of,
                                                       .prefetch = prefetch_slots,
                                                       .arg = s});
    for (uint32_t slot = 0; slot < s->count && err == SP_OK; slot++) {
        struct sp_signature *signature;
        err = sp_contents_get(s->contents, s->slots[slot]->content, &signature);
        if (err == SP_OK)
            err = sp_crowd_add(s->crowd, slot, signature);
        sp_contents_trim(s->contents);
    }
    return err;
}

static enum sp_err find_similar(struct sp_survivors *s, const struct sp_signature *signature,
                                struct sp_survivor_match *ret_match)
{
    uint32_t scratch[SP_SKETCH_MAX], key_count;
    const uint32_t *slots = NULL;
    size_t count = 0;
    struct sp_survivor_match best = {.slot = SP_SURVIVORS_MAX};
    s->looked_up++;
    enum sp_err err = change_index(s);
    if (err == SP_OK && s->index) {
        const uint32_t *keys = sp_candidate_keys(&s->rule, signature, scratch, &key_count);
        count = sp_candidates_find(s->index, keys, key_count, signature->shingle_total, &slots);
    } else if (err == SP_OK) {
        err = sp_crowd_find(s->crowd, signature, &slots, &count);
    }
    if (err == SP_OK)
        err = compare(s, signature, slots, count, &best);
    if (err != SP_OK)
        return err;
    sp_contents_trim(s->contents);
    if (best.slot == SP_SURVIVORS_MAX)
        return SP_NOT_FOUND;
    *ret_match = best;
    return SP_OK;
}

enum sp_err sp_survivors_find(struct sp_survivors *s, const struct sp_signature *signature,
                              struct sp_survivor_match *ret_match)
{
    struct survivor *equal = sp_map_get(&s->by_content, signature->content_hash);
    struct sp_survivor_match match = {.exact = true, .similarity = 1};
    enum sp_err err = SP_OK;
    if (signature->shingle_total == 0)
        return SP_NOT_FOUND; /* a document without words resembles nothing */
    if (equal)
        match.slot = equal->slot;
    else
        err = find_similar(s, signature, &match);
    if (err == SP_OK)
        err = id_of(s, match.slot, &match.id);
    if (err == SP_OK)
        *ret_match = match;
    return err;
}

enum sp_err sp_survivors_keep(struct sp_survivors *s, struct sp_signature *signature,
                              struct sp_view id)
{
    uint32_t scratch[SP_SKETCH_MAX], count;
    if (signature->shingle_total == 0)
        return SP_OK;
    if (s->count == SP_SURVIVORS_MAX)
        return SP_TOO_LARGE;
    enum sp_err err = sp_contents_hold(s->contents, signature);
    if (err != SP_OK)
        return err;
    if (s->index) {
        const uint32_t *keys = sp_candidate_keys(&s->rule, signature, scratch, &count);
        sp_candidates_add(s->index, s->count, keys, count);
    }
    sp_grow(&s->recent, &s->recent_cap, s->count - s->flushed + 1);
    s->recent[s->count - s->flushed] = sp_view(sp_view_dup(id), id.len);
    add_slot(s, signature->content_hash);
    return s->crowd ? sp_crowd_add(s->crowd, s->count - 1, signature) : SP_OK;
}

uint64_t sp_survivors_compared(const struct sp_survivors *s)
{
    return s->compared + (s->crowd ? sp_crowd_compared(s->crowd) : 0);
}

uint64_t sp_survivors_walked(const struct sp_survivors *s)
{
    return s->index ? sp_candidates_walked(s->index) : s->walked;
}

void sp_survivors_stand_for(struct sp_survivors *s, const struct sp_survivor_match *match,
                            struct sp_view id)
{
    struct sp_buf value = {0};
    sp_buf_reset(&s->row);
    sp_buf_put_u8(&s->row, 'R');
    sp_buf_put_big_endian(&s->row, match->slot, 4);
    sp_buf_put_big_endian(&s->row, s->stands_for++, 8);
    sp_buf_put(&value, &match->similarity, sizeof match->similarity);
    sp_buf_put_view(&value, id);
    sp_store_put(s->store, sp_buf_view(&s->row), sp_buf_view(&value));
    sp_buf_done(&value);
}

void sp_survivors_flush(struct sp_survivors *s)
{
    struct sp_buf value = {0};
    for (uint32_t slot = s->flushed; slot < s->count; slot++) {
        struct sp_view id = s->recent[slot - s->flushed];
        sp_buf_reset(&value);
        sp_buf_put(&value, &s->slots[slot]->content, sizeof(struct sp_id));
        sp_buf_put_view(&value, id);
        sp_store_put(s->store, id_key(s, slot), sp_buf_view(&value));
        sp_free((char *)(uintptr_t)id.data);
    }
    s->flushed = s->count;
    sp_buf_done(&value);
    sp_contents_flush(s->contents);
}

/* ---- the clusters ---- */

/* A part of the listing's ids. */
struct id {
    size_t at;
    size_t len;
};

struct listing {
    struct sp_survivors *survivors;
    FILE *file;
    struct sp_buf line;
    uint64_t slot;     /* of the current line; SP_SURVIVORS_MAX: none yet */
    struct sp_buf ids; /* of all kept documents */
    struct id *id;     /* of each slot */
    enum sp_err err;
};

static bool list_id(void *arg, struct sp_view key, struct sp_view value)
{
    struct listing *l = arg;
    struct sp_reader r = sp_reader(key);
    sp_read_u8(&r);
    uint64_t slot = sp_read_big_endian(&r, 4);
    if (r.failed || slot >= l->survivors->count || value.len < sizeof(struct sp_id)) {
        l->err = SP_CORRUPT;
        return false;
    }
    l->id[slot] = (struct id){l->ids.len, value.len - sizeof(struct sp_id)};
    sp_buf_put(&l->ids, value.data + sizeof(struct sp_id), l->id[slot].len);
    return true;
}

static void end_line(struct listing *l)
{
    if (l->line.len == 0)
        return;
    sp_buf_put_str(&l->line, "]}\n");
    fwrite(l->line.data, 1, l->line.len, l->file);
    sp_buf_reset(&l->line);
}

static bool list_removed(void *arg, struct sp_view key, struct sp_view value)
{
    struct listing *l = arg;
    struct sp_reader r = sp_reader(key);
    double similarity;
    sp_read_u8(&r);
    uint64_t slot = sp_read_big_endian(&r, 4);
    if (r.failed || slot >= l->survivors->count || value.len < sizeof similarity) {
        l->err = SP_CORRUPT;
        return false;
    }
    memcpy(&similarity, value.data, sizeof similarity);
    if (slot != l->slot) {
        end_line(l);
        l->slot = slot;
        sp_buf_put_str(&l->line, "{\"kept\":");
        sp_json_put_string(&l->line, sp_view(l->ids.data + l->id[slot].at, l->id[slot].len));
        sp_buf_put_str(&l->line, ",\"removed\":[");
    } else {
        sp_buf_put_u8(&l->line, ',');
    }
    sp_buf_put_str(&l->line, "{\"id\":");
    sp_json_put_string(&l->line,
                       sp_view(value.data + sizeof similarity, value.len - sizeof similarity));
    sp_buf_put_str(&l->line, ",\"similarity\":");
    sp_json_put_double(&l->line, similarity);
    sp_buf_put_u8(&l->line, '}');
    return true;
}

enum sp_err sp_survivors_write(struct sp_survivors *s, const char *name, struct sp_fault *fault)
{
    struct listing l = {.survivors = s, .slot = SP_SURVIVORS_MAX};
    struct sp_view nowhere = sp_view(NULL, 0);
    bool to_stdout = strcmp(name, "-") == 0;
    l.file = to_stdout ? stdout : fopen(name, "w");
    if (!l.file)
        return sp_fault_set(fault, SP_IO, "%s: cannot be written: %s", name, strerror(errno));
    l.id = sp_calloc(s->count + 1, sizeof *l.id);
    enum sp_err err = sp_store_scan(s->store, sp_view_str("I"), nowhere, list_id, &l);
    if (err == SP_OK && l.err == SP_OK)
        err = sp_store_scan(s->store, sp_view_str("R"), nowhere, list_removed, &l);
    end_line(&l);
    bool good = !ferror(l.file);
    good &= (to_stdout ? fflush(l.file) : fclose(l.file)) == 0;
    sp_buf_done(&l.line);
    sp_buf_done(&l.ids);
    sp_free(l.id);
    if (err == SP_OK)
        err = l.err;
    if (err != SP_OK)
        return sp_fault_set(fault, err, "the clusters cannot be read from the state: %s",
                            sp_err_text(err));
    return good ? SP_OK
                : sp_fault_set(fault, SP_IO, "%s: cannot be written: %s", name, strerror(errno));
}
