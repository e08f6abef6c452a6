/* Reads the lists, and marks the documents that they say were removed.
 *
 * A list names ids. If several documents have one id, as in crawls that fetch a URL again, each
 * line is about one of them, which is found by the first of these rules that applies:
 *
 *   1. the line has the text of the document;
 *   2. the line names the document that it was removed for: the most similar one was;
 *   3. a document of equal content and the same id comes before it: the later one was removed;
 *   4. nothing tells them apart: the later ones count as removed, and the id as ambiguous.
 *
 * A line with a status of a page (codec/lines.h) is about the page: its last one counts, and is
 * about the latest document. The others are superseded: neither kept nor removed. */
#include <stdlib.h>

#include "audit/internal.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "input/source.h"

/* Steps of rules 1 and 2 for one id, which may have as many lines as documents; then 3 and 4. */
enum { MOST_STEPS = 1 << 16 };

struct cluster_name {
    struct sp_id hash; /* key of the map: first */
    uint32_t number;
};

/* About an id that several documents have. */
struct line {
    uint32_t first; /* document with the id */
    uint32_t survivor;
    uint32_t cluster;
    uint32_t order; /* in the list */
    uint64_t text;
    bool head;
};

/* Entries of a list that cannot be used as they are. */
struct odd {
    uint64_t count;
    struct sp_buf first; /* what it names */
};

struct reading {
    struct sp_audit *a;
    struct sp_map clusters;
    bool clusters_only; /* the list does not say what was removed */
    bool kept;          /* the list names what was kept */
    uint64_t matched;   /* entries of this list that are about a document */
    struct odd unknown;
    struct odd unknown_survivor; /* removed for a document that is not in the input */
    struct odd nameless;         /* lines without an id */
    bool begun;                  /* the file: its first line has been read */
    struct line *lines;
    uint32_t line_count;
    uint32_t line_cap;
    uint8_t *said; /* by the last status; of the first document of each id; NULL: no status */
    /* Of one id: */
    uint32_t *open; /* documents without a line; those that repeat a content come last */
    uint32_t open_count;
    uint32_t open_cap;
    uint32_t distinct;    /* of the open ones: that do not repeat one */
    uint32_t *of_content; /* by content: a document, or SP_AUDIT_NONE */
    uint32_t steps;
};

/* ---- lines about an id of several documents ---- */

static void put_line(struct reading *r, const struct line *line, uint32_t document)
{
    struct sp_audit_document *d = &r->a->documents[document];
    if (!r->clusters_only)
        d->removed = !r->kept;
    if (line->survivor != SP_AUDIT_NONE)
        d->survivor = line->survivor;
    if (line->cluster != SP_AUDIT_NONE)
        d->cluster = line->cluster;
}

static void open_documents(struct reading *r, uint32_t first)
{
    const struct sp_audit_document *d = r->a->documents;
    uint32_t count = 0;
    for (uint32_t i = first; i != SP_AUDIT_NONE; i = d[i].next, count++)
        if (r->of_content[d[i].content] == SP_AUDIT_NONE)
            r->of_content[d[i].content] = i;
    sp_grow(&r->open, &r->open_cap, count);
    r->open_count = r->steps = 0;
    for (uint32_t i = first; i != SP_AUDIT_NONE; i = d[i].next)
        if (r->of_content[d[i].content] == i)
            r->open[r->open_count++] = i;
    r->distinct = r->open_count;
    for (uint32_t i = first; i != SP_AUDIT_NONE; i = d[i].next)
        if (r->of_content[d[i].content] != i)
            r->open[r->open_count++] = i;
    for (uint32_t i = first; i != SP_AUDIT_NONE; i = d[i].next)
        r->of_content[d[i].content] = SP_AUDIT_NONE;
}

/* What the clusters say of removed documents cannot be about kept ones, and the other way round. */
static bool may_be_about(const struct reading *r, const struct line *line, uint32_t document)
{
    return !r->clusters_only || r->a->documents[document].removed != line->head;
}

static uint32_t place_by_text(struct reading *r, const struct line *line)
{
    for (uint32_t k = r->open_count; line->text && k-- > 0 && r->steps++ < MOST_STEPS;)
        if (r->a->documents[r->open[k]].text == line->text)
            return k;
    return SP_AUDIT_NONE;
}

static uint32_t place_by_survivor(struct reading *r, const struct line *line)
{
    const struct sp_audit *a = r->a;
    uint32_t best = SP_AUDIT_NONE;
    double most = 0;
    for (uint32_t k = r->open_count; k-- > 0 && most < 1;) {
        if (!may_be_about(r, line, r->open[k]))
            continue;
        for (uint32_t i = line->survivor; i != SP_AUDIT_NONE && r->steps++ < MOST_STEPS;
             i = a->documents[i].next) {
            double similarity = i == r->open[k] ? 0 : sp_audit_similarity(a, r->open[k], i);
            if (similarity <= most)
                continue;
            most = similarity;
            best = k;
        }
    }
    return best;
}

/* Rules 1 and 2. The lines that they do not place move to the front; returns how many. */
static uint32_t place_lines(struct reading *r, struct line *lines, uint32_t count)
{
    uint32_t left = 0;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t k = place_by_text(r, &lines[n]);
        if (k == SP_AUDIT_NONE)
            k = place_by_survivor(r, &lines[n]);
        if (k == SP_AUDIT_NONE) {
            lines[left++] = lines[n];
            continue;
        }
        put_line(r, &lines[n], r->open[k]);
        r->open_count--;
        r->distinct -= k < r->distinct;
        memmove(r->open + k, r->open + k + 1, (r->open_count - k) * sizeof *r->open);
    }
    return left;
}

/* Rules 3 and 4. */
static void place_others(struct reading *r, const struct line *lines, uint32_t count)
{
    count = count < r->open_count ? count : r->open_count;
    uint32_t from = r->kept || r->clusters_only ? 0 : r->open_count - count;
    uint32_t kept = r->kept ? count : from;
    r->a->result->ambiguous += !r->clusters_only && kept > 0 && kept < r->distinct;
    for (uint32_t n = 0; n < count; n++)
        put_line(r, &lines[n], r->open[from + n]);
}

/* A document without a line is in the cluster of its equals; the clusters are of ids. */
static void join_equals(struct reading *r, uint32_t first, uint32_t last_cluster)
{
    struct sp_audit_document *d = r->a->documents;
    for (uint32_t i = first; i != SP_AUDIT_NONE; i = d[i].next)
        if (d[i].cluster != SP_AUDIT_NONE)
            r->of_content[d[i].content] = i;
    for (uint32_t i = first; i != SP_AUDIT_NONE; i = d[i].next) {
        uint32_t equal = r->of_content[d[i].content];
        if (d[i].cluster == SP_AUDIT_NONE && equal != SP_AUDIT_NONE)
            d[i].cluster = d[equal].cluster;
        else if (d[i].cluster == SP_AUDIT_NONE && r->clusters_only)
            d[i].cluster = last_cluster;
    }
    for (uint32_t i = first; i != SP_AUDIT_NONE; i = d[i].next)
        r->of_content[d[i].content] = SP_AUDIT_NONE;
}

static int by_id(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->order < y->order ? -1 : x->order > y->order;
}

static void place_all(struct reading *r)
{
    if (r->line_count == 0)
        return;
    r->of_content = sp_alloc(r->a->content_count * sizeof *r->of_content);
    memset(r->of_content, 0xff, r->a->content_count * sizeof *r->of_content);
    qsort(r->lines, r->line_count, sizeof *r->lines, by_id);
    for (uint32_t n = 0, end; n < r->line_count; n = end) {
        uint32_t first = r->lines[n].first;
        for (end = n; end < r->line_count && r->lines[end].first == first;)
            end++;
        uint32_t last_cluster = r->lines[end - 1].cluster;
        open_documents(r, first);
        uint32_t left = place_lines(r, r->lines + n, end - n);
        place_others(r, r->lines + n, left);
        join_equals(r, first, last_cluster);
    }
    sp_free(r->of_content);
    r->line_count = 0;
}

/* ---- statuses ---- */

static void mark_page(const struct reading *r, uint32_t first)
{
    struct sp_audit_document *d = r->a->documents;
    uint32_t latest = first;
    for (uint32_t i = first; i != SP_AUDIT_NONE; i = d[i].next) {
        latest = d[i].time >= d[latest].time ? i : latest;
        d[i].superseded = true;
    }
    d[latest].superseded = r->said[first] == SP_AUDIT_STATUS_NEITHER;
    d[latest].survivor = d[first].survivor;
    d[latest].cluster = d[first].cluster;
    if (r->said[first] == SP_AUDIT_STATUS)
        d[latest].removed = !r->kept;
    else if (r->said[first] != SP_AUDIT_LISTED)
        d[latest].removed = r->said[first] == SP_AUDIT_STATUS_REMOVED;
}

static void mark_pages(struct reading *r)
{
    for (uint32_t i = 0; r->said && i < r->a->count; i++)
        if (r->a->documents[i].previous == SP_AUDIT_NONE)
            mark_page(r, i);
    sp_free(r->said);
    r->said = NULL;
}

/* ---- reading ---- */

static uint32_t cluster_of(struct reading *r, struct sp_view name)
{
    struct sp_audit *a = r->a;
    if (name.len == 0)
        return SP_AUDIT_NONE;
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
    return c->number;
}

static void note(struct odd *odd, struct sp_view text)
{
    if (odd->count++ == 0)
        sp_buf_put_view(&odd->first, text);
}

static uint32_t survivor_in(struct reading *r, struct sp_view id)
{
    uint32_t survivor = id.len ? sp_audit_find(r->a, id) : SP_AUDIT_NONE;
    if (id.len && survivor == SP_AUDIT_NONE)
        note(&r->unknown_survivor, id);
    return survivor;
}

static void on_entry(void *arg, const struct sp_audit_entry *entry)
{
    struct reading *r = arg;
    struct sp_audit *a = r->a;
    struct line line = {.first = sp_audit_find(a, entry->id),
                        .survivor = SP_AUDIT_NONE,
                        .order = r->line_count,
                        .text = entry->text,
                        .head = entry->said == SP_AUDIT_HEAD};
    if (line.first == SP_AUDIT_NONE) {
        if (entry->said != SP_AUDIT_STATUS_NEITHER) /* else the page never had any content */
            note(&r->unknown, entry->id);
        return;
    }
    r->matched++;
    line.survivor = survivor_in(r, entry->survivor);
    line.cluster = cluster_of(r, entry->cluster);
    struct sp_audit_document *d = &a->documents[line.first];
    if (entry->said >= SP_AUDIT_STATUS && !r->clusters_only) {
        if (!r->said)
            r->said = sp_calloc(a->count, sizeof *r->said);
        r->said[line.first] = (uint8_t)entry->said;
        d->survivor = line.survivor; /* also if it has none any more */
        d->cluster = line.cluster;
    } else if (d->next == SP_AUDIT_NONE) {
        put_line(r, &line, line.first);
    } else {
        sp_grow(&r->lines, &r->line_cap, r->line_count + 1);
        r->lines[r->line_count++] = line;
    }
}

static void read_line(struct sp_view line, void *lines, struct reading *r)
{
    size_t mark = r->begun ? 0 : sp_utf8_mark_bytes(line.data, line.len);
    line = sp_view(line.data + mark, line.len - mark);
    r->begun = true;
    while (line.len > 0 && strchr(" \t\r", line.data[line.len - 1]))
        line.len--;
    if (line.len > 0 && !sp_audit_lines_read(lines, line.data, line.len, on_entry, r))
        note(&r->nameless, line);
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
        read_line(sp_view(bytes->data + at, len), lines, r);
        if (!newline)
            return;
        at = (size_t)(newline - bytes->data) + 1;
    }
    memmove(bytes->data, bytes->data + at, bytes->len - at);
    bytes->len -= at;
}

static enum sp_err read_file(struct reading *r, const char *name, struct sp_fault *fault)
{
    enum { BLOCK = 1 << 18 };
    struct sp_source *source;
    struct sp_buf bytes = {0};
    size_t n = 1;
    enum sp_err err = sp_source_open(name, &source, fault);
    if (err != SP_OK)
        return err;
    const struct sp_input_fields *fields = &r->a->options->input.fields;
    void *lines = sp_audit_lines_new(fields->id, fields->text);
    r->begun = false;
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

enum { SHOWN = 300 };

static int shown(const struct odd *odd)
{
    return (int)(odd->first.len < SHOWN ? odd->first.len : SHOWN);
}

static void warn(const struct reading *r, const struct sp_fault *text)
{
    const struct sp_audit_options *o = r->a->options;
    if (o->warn)
        o->warn(o->warn_arg, text->text);
}

/* A list of objects whose ids are in a field of another name would else be one that is empty. */
static enum sp_err check_lines(const struct reading *r, const char *name, struct sp_fault *fault)
{
    struct sp_fault text;
    if (r->nameless.count == 0)
        return SP_OK;
    sp_fault_set(&text, SP_INVALID,
                 "%s: %llu of its lines name no document, the first is \"%.*s\"; name by "
                 "--id-field the field of the id",
                 name, (unsigned long long)r->nameless.count, shown(&r->nameless),
                 r->nameless.first.data);
    if (r->matched == 0 && r->unknown.count == 0 && !r->clusters_only)
        return sp_fault_set(fault, SP_INVALID, "%s", text.text);
    warn(r, &text);
    return SP_OK;
}

/* Before the comparison, which takes longer than all that comes before it. If no id of the main
 * list matches, nothing would be removed, or everything. */
static enum sp_err check_ids(const struct reading *r, const char *name, struct sp_fault *fault)
{
    bool none = r->matched == 0;
    struct sp_fault text;
    if (r->unknown.count == 0)
        return SP_OK;
    int len = shown(&r->unknown);
    if (none)
        sp_fault_set(&text, SP_INVALID,
                     "%s: no id in it matches a document of the input: the first is \"%.*s\", and "
                     "that of the first document is \"%.*s\"; name the input that the list was "
                     "made of, or by --id-field the field of the id",
                     name, len, r->unknown.first.data, SHOWN, sp_audit_id(r->a, 0));
    else
        sp_fault_set(&text, SP_INVALID,
                     "%s: %llu of its ids match no document of the input, the first is \"%.*s\"; "
                     "name all inputs that the list was made of",
                     name, (unsigned long long)r->unknown.count, len, r->unknown.first.data);
    if (none && !r->clusters_only)
        return sp_fault_set(fault, SP_INVALID, "%s", text.text);
    warn(r, &text);
    return SP_OK;
}

/* Lists of `dedup --state` name documents of earlier snapshots. */
static void check_survivors(const struct reading *r, const char *name)
{
    struct sp_fault text;
    if (r->unknown_survivor.count == 0)
        return;
    sp_fault_set(&text, SP_INVALID,
                 "%s: %llu of its documents were removed for one that is not in the input, the "
                 "first for \"%.*s\", and are judged without it; name the inputs that it came from",
                 name, (unsigned long long)r->unknown_survivor.count, shown(&r->unknown_survivor),
                 r->unknown_survivor.first.data);
    warn(r, &text);
}

static void forget(struct odd *odd)
{
    odd->count = 0;
    sp_buf_reset(&odd->first);
}

static enum sp_err read_list(struct reading *r, const char *name, struct sp_fault *fault)
{
    enum sp_err err = name ? read_file(r, name, fault) : SP_OK;
    if (err == SP_OK)
        err = check_ids(r, name, fault);
    if (err == SP_OK)
        err = check_lines(r, name, fault);
    if (err == SP_OK) {
        check_survivors(r, name);
        place_all(r);
        mark_pages(r);
    }
    r->a->result->unknown += r->unknown.count;
    r->a->result->survivor_unknown += r->unknown_survivor.count;
    r->matched = 0;
    forget(&r->unknown);
    forget(&r->unknown_survivor);
    forget(&r->nameless);
    return err;
}

enum sp_err sp_audit_lists(struct sp_audit *a, struct sp_fault *fault)
{
    const struct sp_audit_options *o = a->options;
    struct reading r = {.a = a, .kept = o->kept != NULL};
    for (uint32_t i = 0; o->kept && i < a->count; i++)
        a->documents[i].removed = true;
    enum sp_err err = read_list(&r, o->kept ? o->kept : o->removed, fault);
    r.clusters_only = true;
    if (err == SP_OK)
        err = read_list(&r, o->clusters, fault);
    sp_map_free_objects(&r.clusters);
    sp_buf_done(&r.unknown.first);
    sp_buf_done(&r.unknown_survivor.first);
    sp_buf_done(&r.nameless.first);
    sp_free(r.lines);
    sp_free(r.open);
    sp_free(r.said);
    return err;
}
