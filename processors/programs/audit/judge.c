/* Reads the lists, and decides which removals were right by what near.c found of the contents. */
#include <stdlib.h>

#include "audit/internal.h"
#include "base/map.h"
#include "base/mem.h"
#include "input/source.h"

/* ---- the lists ---- */

struct cluster_name {
    struct sp_id hash; /* key of the map: first */
    uint32_t number;
};

struct reading {
    struct sp_audit *a;
    struct sp_map clusters;
    bool clusters_only; /* the list does not say what was removed */
    bool kept;          /* the list names what was kept */
};

/* If several documents have one id, the later ones count as removed, one for each time that a list
 * names the id, and the earlier ones as kept. */
static void mark(struct sp_audit *a, uint32_t first, bool removed)
{
    uint32_t *last = &a->documents[first].last_kept;
    uint32_t next = *last == SP_AUDIT_NONE ? first : a->documents[*last].next;
    if (removed && *last != SP_AUDIT_NONE) {
        a->documents[*last].removed = true;
        *last = a->documents[*last].previous;
    } else if (!removed && next != SP_AUDIT_NONE) {
        a->documents[next].removed = false;
        *last = next;
    }
}

static void put_into_cluster(struct reading *r, uint32_t document, struct sp_view name)
{
    struct sp_audit *a = r->a;
    struct sp_id hash = sp_hash128(name.data, name.len);
    struct cluster_name *c = sp_map_get(&r->clusters, hash);
    if (!c) {
        c = sp_alloc(sizeof *c);
        *c = (struct cluster_name){hash, a->cluster_count};
        sp_map_add(&r->clusters, c);
        sp_grow(&a->clusters, &a->cluster_cap, a->cluster_count + 1);
        a->clusters[a->cluster_count++] =
            (struct sp_audit_cluster){.first_kept = SP_AUDIT_NONE, .least = 1};
    }
    a->documents[document].cluster = c->number;
}

static void on_entry(void *arg, const struct sp_audit_entry *entry)
{
    struct reading *r = arg;
    struct sp_audit *a = r->a;
    uint32_t first = sp_audit_find(a, entry->id);
    if (first == SP_AUDIT_NONE) {
        a->result->unknown++;
        return;
    }
    if (!r->clusters_only)
        mark(a, first, !r->kept);
    if (entry->survivor.len)
        a->documents[first].survivor = sp_audit_find(a, entry->survivor);
    if (entry->cluster.len)
        put_into_cluster(r, first, entry->cluster);
}

/* What the lists say of an id holds for all documents that have it. */
static void copy_to_repeats(struct sp_audit *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        struct sp_audit_document *d = &a->documents[i];
        if (d->previous == SP_AUDIT_NONE)
            continue;
        d->survivor = a->documents[d->previous].survivor;
        d->cluster = a->documents[d->previous].cluster;
    }
}

/* The first `seen` bytes have no newline. */
static void read_lines(struct sp_buf *bytes, size_t seen, bool end, void *lines, struct reading *r)
{
    size_t at = 0;
    for (;;) {
        size_t from = at > seen ? at : seen;
        char *newline =
            from < bytes->len ? memchr(bytes->data + from, '\n', bytes->len - from) : NULL;
        size_t len = newline ? (size_t)(newline - bytes->data) - at : bytes->len - at;
        if (!newline && !end)
            break;
        while (len > 0 && strchr(" \t\r", bytes->data[at + len - 1]))
            len--;
        if (len > 0)
            sp_audit_lines_read(lines, bytes->data + at, len, on_entry, r);
        if (!newline)
            return;
        at = (size_t)(newline - bytes->data) + 1;
    }
    memmove(bytes->data, bytes->data + at, bytes->len - at);
    bytes->len -= at;
}

static enum sp_err read_list(struct reading *r, const char *name, struct sp_fault *fault)
{
    enum { BLOCK = 1 << 18 };
    struct sp_source *source;
    struct sp_buf bytes = {0};
    size_t n = 1;
    enum sp_err err = sp_source_open(name, &source, fault);
    if (err != SP_OK)
        return err;
    void *lines = sp_audit_lines_new(r->a->options->input.fields.id);
    while (n > 0) {
        err = sp_source_read(source, sp_buf_reserve(&bytes, BLOCK), BLOCK, &n);
        if (err != SP_OK) {
            sp_fault_set(fault, err, "%s: cannot be read to its end", name);
            break;
        }
        size_t seen = bytes.len;
        bytes.len += n;
        read_lines(&bytes, seen, n == 0, lines, r);
        if (bytes.len > r->a->options->input.max_record_bytes) {
            err = sp_fault_set(
                fault, SP_MALFORMED,
                "%s: has a line longer than input.max_record_bytes, so it is no list", name);
            break;
        }
    }
    sp_audit_lines_free(lines);
    sp_source_close(source);
    sp_buf_done(&bytes);
    return err;
}

enum sp_err sp_audit_lists(struct sp_audit *a, struct sp_fault *fault)
{
    const struct sp_audit_options *o = a->options;
    struct reading r = {.a = a};
    enum sp_err err = SP_OK;
    if (o->kept) {
        for (uint32_t i = 0; i < a->count; i++) {
            a->documents[i].removed = true;
            a->documents[i].last_kept = SP_AUDIT_NONE;
        }
        r.kept = true;
        err = read_list(&r, o->kept, fault);
    }
    r.kept = false;
    if (err == SP_OK && o->removed)
        err = read_list(&r, o->removed, fault);
    r.clusters_only = true;
    if (err == SP_OK && o->clusters)
        err = read_list(&r, o->clusters, fault);
    copy_to_repeats(a);
    sp_map_free_objects(&r.clusters);
    return err;
}

/* ---- the contents ---- */

static void count_contents(struct sp_audit *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const struct sp_audit_document *d = &a->documents[i];
        struct sp_audit_content *c = &a->contents[d->content];
        if (d->removed) {
            c->removed++;
            continue;
        }
        if (c->kept++ == 0)
            c->first_kept = i;
    }
}

static void count_missed(struct sp_audit *a)
{
    for (uint32_t i = 0; i < a->content_count; i++) {
        const struct sp_audit_content *c = &a->contents[i];
        if (c->kept == 0 || a->signatures[i]->shingle_total == 0)
            continue;
        a->result->missed_pairs += (uint64_t)c->kept * (c->kept - 1) / 2;
        a->result->missed += c->kept - (c->missed ? 0 : 1);
    }
}

/* ---- the removed ---- */

static double similarity_of(const struct sp_audit *a, uint32_t x, uint32_t y)
{
    uint32_t cx = a->documents[x].content, cy = a->documents[y].content;
    return cx == cy ? 1
                    : sp_similarity(&a->options->similarity, a->signatures[cx], a->signatures[cy]);
}

static void judge_survivor(struct sp_audit *a, uint32_t document)
{
    struct sp_audit_document *d = &a->documents[document];
    struct sp_audit_cluster *c = d->cluster == SP_AUDIT_NONE ? NULL : &a->clusters[d->cluster];
    uint32_t survivor = d->survivor;
    if (survivor == SP_AUDIT_NONE && c)
        survivor = c->first_kept;
    if (survivor == SP_AUDIT_NONE)
        return;
    double similarity = similarity_of(a, document, survivor);
    bool unlike = similarity < a->options->similarity.threshold;
    a->result->survivor_known++;
    a->result->survivor_gone += a->documents[survivor].removed;
    a->result->survivor_unlike += unlike;
    if (unlike)
        sp_audit_add_example(a, SP_AUDIT_UNLIKE, document, survivor, similarity);
    if (c && similarity < c->least)
        c->least = similarity;
    if (c)
        c->unlike += unlike;
}

static void show_chain(struct sp_audit *a, uint32_t document)
{
    double similarity;
    if (a->example_count[SP_AUDIT_CHAIN] == SP_AUDIT_EXAMPLES)
        return; /* the nearest is found by comparing all */
    uint32_t nearest = sp_audit_nearest(a, a->documents[document].content, &similarity);
    if (nearest != SP_AUDIT_NONE)
        sp_audit_add_example(a, SP_AUDIT_CHAIN, document, a->contents[nearest].first, similarity);
}

static void judge_removed(struct sp_audit *a, uint32_t document)
{
    const struct sp_audit_document *d = &a->documents[document];
    const struct sp_audit_content *c = &a->contents[d->content];
    struct sp_audit_source *source = &a->sources[d->source];
    double best = c->kept ? 1 : c->best;
    a->result->removed++;
    a->result->removed_bytes += d->bytes;
    source->removed++;
    source->removed_bytes += d->bytes;
    if (a->signatures[d->content]->shingle_total == 0) {
        a->result->wordless++;
        return;
    }
    judge_survivor(a, document);
    a->bins[(size_t)(best * SP_AUDIT_BINS)]++;
    if (c->kept || c->right) {
        a->result->right++;
        return;
    }
    source->unjustified++;
    if (c->removed > 1 || c->alike) {
        a->result->by_chain++;
        if (c->alike)
            show_chain(a, document);
    } else {
        a->result->wrong++;
        sp_audit_add_example(
            a, SP_AUDIT_WRONG, document, d->survivor,
            d->survivor == SP_AUDIT_NONE ? 0 : similarity_of(a, document, d->survivor));
    }
}

static void count_clusters(struct sp_audit *a)
{
    for (uint32_t i = 0; i < a->count; i++) {
        const struct sp_audit_document *d = &a->documents[i];
        struct sp_audit_cluster *c = d->cluster == SP_AUDIT_NONE ? NULL : &a->clusters[d->cluster];
        if (!c)
            continue;
        c->size++;
        if (!d->removed && c->kept++ == 0)
            c->first_kept = i;
    }
    a->result->clusters = a->cluster_count;
    /* A list of removed documents that names their clusters lacks the kept ones. */
    bool whole = a->options->clusters || a->options->kept;
    for (uint32_t i = 0; whole && a->clusters && i < a->cluster_count; i++)
        a->result->clusters_lost += a->clusters[i].kept == 0;
}

enum sp_err sp_audit_judge(struct sp_audit *a, struct sp_fault *fault)
{
    count_contents(a);
    count_clusters(a);
    enum sp_err err = sp_audit_compare(a);
    if (err != SP_OK)
        return sp_fault_set(fault, err, "the documents cannot be compared: %s", sp_err_text(err));
    count_missed(a);
    for (uint32_t i = 0; i < a->count; i++) {
        const struct sp_audit_document *d = &a->documents[i];
        a->result->bytes += d->bytes;
        a->sources[d->source].documents++;
        a->sources[d->source].bytes += d->bytes;
        if (d->removed)
            judge_removed(a, i);
    }
    a->result->documents = a->count;
    return SP_OK;
}
