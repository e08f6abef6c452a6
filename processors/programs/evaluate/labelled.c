/* Reads labelled data: see labelled.h for the format. */
#include "evaluate/labelled.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/url.h"
#include "evaluate/scores.h"
#include "input/source.h"

static const double same_from = 0.8; /* for pairs whose label is a "jaccard" */

struct named {
    struct sp_id key; /* of the id: first */
    uint32_t page;
};

struct reader {
    struct sp_labelled *set;
    size_t page_cap;
    size_t pair_cap;
    bool some_differ;
    struct sp_map by_id;
    const char *file;
    uint64_t line;
    struct sp_fault *fault;
};

static enum sp_err fail(struct reader *r, enum sp_err err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum sp_err fail(struct reader *r, enum sp_err err, const char *format, ...)
{
    struct sp_fault what;
    va_list args;
    va_start(args, format);
    sp_fault_setv(&what, err, format, args);
    va_end(args);
    return sp_fault_set(r->fault, err, "%s:%" PRIu64 ": %s", r->file, r->line, what.text);
}

static char *text_of(const json_t *value)
{
    if (json_is_string(value))
        return sp_strdup(json_string_value(value));
    if (!json_is_number(value))
        return NULL;
    char number[64];
    if (json_is_integer(value))
        snprintf(number, sizeof number, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else
        snprintf(number, sizeof number, "%.17g", json_real_value(value));
    return sp_strdup(number);
}

/* Returns the host of a URL; NULL if it has none. */
static char *site_of(const char *url)
{
    struct sp_buf canonical = {0};
    char *site = NULL;
    if (sp_url_canonical(sp_view_str(url), &canonical) == SP_OK)
        site = sp_view_dup(sp_url_host(sp_buf_view(&canonical)));
    sp_buf_done(&canonical);
    return site;
}

/* ---- lines ---- */

static enum sp_err read_page(struct reader *r, const json_t *line)
{
    struct sp_labelled *set = r->set;
    const json_t *content = json_object_get(line, "content"), *id = json_object_get(line, "id");
    const char *type = json_string_value(json_object_get(line, "content_type"));
    const char *url = json_string_value(json_object_get(line, "url"));
    char *name = text_of(id ? id : json_object_get(line, "url"));
    if (!name || !json_is_string(content)) {
        sp_free(name);
        return fail(r, SP_MALFORMED, "a page needs an \"id\" and its \"content\", a text");
    }
    struct sp_id key = sp_hash128(name, strlen(name));
    if (sp_map_get(&r->by_id, key)) {
        enum sp_err err = fail(r, SP_MALFORMED, "the id \"%s\" was given before", name);
        sp_free(name);
        return err;
    }
    sp_grow(&set->pages, &r->page_cap, set->page_count + 1);
    struct named *n = sp_alloc(sizeof *n);
    *n = (struct named){key, (uint32_t)set->page_count};
    sp_map_add(&r->by_id, n);
    size_t len = json_string_length(content);
    set->pages[set->page_count++] = (struct sp_labelled_page){
        .id = name,
        .content_type = sp_strdup(type ? type : ""),
        .cluster = text_of(json_object_get(line, "cluster")),
        .site = site_of(url ? url : name),
        .content = sp_view(sp_memdup(json_string_value(content), len + 1), len)};
    return SP_OK;
}

static void add_pair(struct reader *r, uint32_t a, uint32_t b, bool same)
{
    struct sp_labelled *set = r->set;
    sp_grow(&set->pairs, &r->pair_cap, set->pair_count + 1);
    set->pairs[set->pair_count++] = (struct sp_labelled_pair){a < b ? a : b, a < b ? b : a, same};
    r->some_differ |= !same;
}

static enum sp_err page_of(struct reader *r, const json_t *line, const char *field,
                           uint32_t *ret_page)
{
    char *id = text_of(json_object_get(line, field));
    const struct named *n = id ? sp_map_get(&r->by_id, sp_hash128(id, strlen(id))) : NULL;
    enum sp_err err = SP_OK;
    if (!n)
        err = fail(r, SP_MALFORMED, "\"%s\" of a pair is %s%s, which no page has as its id", field,
                   id ? "" : "missing", id ? id : "");
    else
        *ret_page = n->page;
    sp_free(id);
    return err;
}

static enum sp_err read_pair(struct reader *r, const json_t *line)
{
    uint32_t a = 0, b = 0;
    const json_t *label = json_object_get(line, "label"),
                 *jaccard = json_object_get(line, "jaccard");
    enum sp_err err = page_of(r, line, "a", &a);
    if (err == SP_OK)
        err = page_of(r, line, "b", &b);
    if (err != SP_OK)
        return err;
    if (a == b)
        return fail(r, SP_MALFORMED, "a pair of one page");
    if (label && !json_is_number(label) && !json_is_boolean(label))
        return fail(r, SP_MALFORMED, "\"label\" must be 1, the same, or 0");
    if (!label && json_is_number(jaccard)) {
        if (json_number_value(jaccard) >= same_from)
            add_pair(r, a, b, true);
        return SP_OK;
    }
    add_pair(r, a, b,
             !label || json_is_true(label) ||
                 (json_is_number(label) && json_number_value(label) > 0));
    return SP_OK;
}

/* ---- files ---- */

static enum sp_err read_line(struct reader *r, struct sp_view text,
                             enum sp_err (*each)(struct reader *, const json_t *))
{
    json_error_t error;
    r->line++;
    if (text.len == 0)
        return SP_OK;
    json_t *line = json_loadb(text.data, text.len, JSON_ALLOW_NUL, &error);
    if (!json_is_object(line)) {
        json_decref(line);
        return fail(r, SP_MALFORMED, "not a JSON object: %s", line ? "something else" : error.text);
    }
    enum sp_err err = each(r, line);
    json_decref(line);
    return err;
}

static enum sp_err each_line(struct reader *r, const struct sp_buf *all,
                             enum sp_err (*each)(struct reader *, const json_t *))
{
    enum sp_err err = SP_OK;
    for (size_t at = 0; at < all->len && err == SP_OK;) {
        const char *end = memchr(all->data + at, '\n', all->len - at);
        size_t next = end ? (size_t)(end - all->data) : all->len;
        err = read_line(r, sp_view(all->data + at, next - at), each);
        at = next + 1;
    }
    return err;
}

static enum sp_err read_file(struct reader *r, const char *file,
                             enum sp_err (*each)(struct reader *, const json_t *))
{
    enum { STEP = 1 << 20 };
    struct sp_source *source = NULL;
    struct sp_buf all = {0};
    size_t n = 1;
    r->file = file;
    r->line = 0;
    enum sp_err err = sp_source_open(file, &source, r->fault);
    if (err != SP_OK)
        return err;
    while (n && err == SP_OK) {
        err = sp_source_read(source, sp_buf_reserve(&all, STEP), STEP, &n);
        all.len += err == SP_OK ? n : 0;
    }
    if (err != SP_OK)
        err = fail(r, err, "cannot be read: %s", sp_err_text(err));
    else
        err = each_line(r, &all, each);
    sp_source_close(source);
    sp_buf_done(&all);
    return err;
}

/* ---- labels ---- */

static const struct sp_labelled *sorting; /* qsort has no argument */

static int by_cluster(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    int order = strcmp(sorting->pages[x].cluster, sorting->pages[y].cluster);
    return order ? order : x < y ? -1 : x > y;
}

static void pair_clusters(struct reader *r)
{
    struct sp_labelled *set = r->set;
    uint32_t *order = sp_alloc((set->page_count + 1) * sizeof *order);
    size_t count = 0;
    for (uint32_t i = 0; i < set->page_count; i++)
        if (set->pages[i].cluster)
            order[count++] = i;
    sorting = set;
    qsort(order, count, sizeof *order, by_cluster);
    for (size_t i = 0; i < count; i++)
        for (size_t k = i + 1; k < count; k++) {
            if (strcmp(set->pages[order[i]].cluster, set->pages[order[k]].cluster) != 0)
                break;
            add_pair(r, order[i], order[k], true);
        }
    sp_free(order);
}

static int by_pages(const void *a, const void *b)
{
    const struct sp_labelled_pair *x = a, *y = b;
    if (x->a != y->a)
        return x->a < y->a ? -1 : 1;
    if (x->b != y->b)
        return x->b < y->b ? -1 : 1;
    return x->same < y->same ? -1 : x->same > y->same;
}

static enum sp_err finish_pairs(struct reader *r)
{
    struct sp_labelled *set = r->set;
    size_t kept = 0;
    if (set->pair_count)
        qsort(set->pairs, set->pair_count, sizeof *set->pairs, by_pages);
    for (size_t i = 0; i < set->pair_count; i++) {
        const struct sp_labelled_pair p = set->pairs[i];
        if (kept && set->pairs[kept - 1].a == p.a && set->pairs[kept - 1].b == p.b) {
            if (set->pairs[kept - 1].same == p.same)
                continue;
            return fail(r, SP_MALFORMED, "the pair \"%s\", \"%s\" has two labels",
                        set->pages[p.a].id, set->pages[p.b].id);
        }
        set->pairs[kept++] = p;
        set->same_count += p.same;
    }
    set->pair_count = kept;
    set->listed = r->some_differ;
    return set->same_count ? SP_OK : fail(r, SP_MALFORMED, "no two pages are labelled the same");
}

/* ---- where ---- */

/* Finds DIR/NAME with the first of the usual endings that exists; "" if none does. */
static void find_file(const char *directory, const char *name, char *ret_path, size_t size)
{
    static const char *const endings[] = {".jsonl", ".jsonl.zst", ".jsonl.gz"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        int n = snprintf(ret_path, size, "%s/%s%s", directory, name, endings[i]);
        if (n > 0 && (size_t)n < size && access(ret_path, R_OK) == 0)
            return;
    }
    *ret_path = 0;
}

static void find_files(const char *where, char *ret_pages, char *ret_pairs, size_t size)
{
    const char *comma = strchr(where, ',');
    find_file(where, "pages", ret_pages, size);
    if (!*ret_pages)
        find_file(where, "docs", ret_pages, size);
    find_file(where, "pairs", ret_pairs, size);
    if (*ret_pages)
        return;
    snprintf(ret_pages, size, "%.*s", (int)(comma ? comma - where : (long)strlen(where)), where);
    snprintf(ret_pairs, size, "%s", comma ? comma + 1 : "");
}

/* Returns the last folder's name, or a file's name up to its first dot. */
static char *name_of(const char *where)
{
    size_t len = strcspn(where, ",");
    while (len > 1 && where[len - 1] == '/')
        len--;
    size_t from = len;
    while (from > 0 && where[from - 1] != '/')
        from--;
    size_t dot = from;
    while (dot < len && where[dot] != '.')
        dot++;
    return sp_view_dup(sp_view(where + from, (dot > from ? dot : len) - from));
}

enum sp_err sp_labelled_read(const char *where, struct sp_labelled **ret_set,
                             struct sp_fault *fault)
{
    enum { PATH_BYTES = 4096 };
    char pages[PATH_BYTES], pairs[PATH_BYTES];
    struct reader r = {.set = sp_calloc(1, sizeof(struct sp_labelled)), .fault = fault};
    r.set->name = name_of(where);
    find_files(where, pages, pairs, PATH_BYTES);
    enum sp_err err = read_file(&r, pages, read_page);
    if (err == SP_OK && *pairs)
        err = read_file(&r, pairs, read_pair);
    else if (err == SP_OK)
        pair_clusters(&r);
    if (err == SP_OK)
        err = finish_pairs(&r);
    sp_map_free_objects(&r.by_id);
    if (err == SP_OK)
        *ret_set = r.set;
    else
        sp_labelled_free(r.set);
    return err;
}

enum sp_err sp_labelled_sign(const struct sp_labelled *set, const struct sp_text_options *options,
                             struct sp_signature **ret_signatures, double *ret_seconds)
{
    struct sp_text *text = sp_text_new(options);
    double start = sp_clock_thread_seconds();
    for (size_t i = 0; i < set->page_count; i++) {
        const struct sp_labelled_page *page = &set->pages[i];
        ret_signatures[i] =
            sp_text_signature(text, sp_view_str(page->content_type), page->content, true);
    }
    *ret_seconds = sp_clock_thread_seconds() - start;
    sp_text_free(text);
    return SP_OK;
}

void sp_labelled_free(struct sp_labelled *set)
{
    if (!set)
        return;
    for (size_t i = 0; i < set->page_count; i++) {
        sp_free(set->pages[i].id);
        sp_free(set->pages[i].content_type);
        sp_free(set->pages[i].cluster);
        sp_free(set->pages[i].site);
        sp_free((void *)(uintptr_t)set->pages[i].content.data);
    }
    sp_free(set->pages);
    sp_free(set->pairs);
    sp_free(set->name);
    sp_free(set);
}

/* ---- what is labelled ---- */

const struct sp_labelled_pair *sp_labelled_find(const struct sp_labelled *set, uint32_t a,
                                                uint32_t b)
{
    size_t lo = 0, hi = set->pair_count;
    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        const struct sp_labelled_pair *p = &set->pairs[middle];
        if (p->a < a || (p->a == a && p->b < b))
            lo = middle + 1;
        else
            hi = middle;
    }
    const struct sp_labelled_pair *p = &set->pairs[lo];
    return lo < set->pair_count && p->a == a && p->b == b ? p : NULL;
}

void sp_labelled_truth(const struct sp_labelled *set, uint32_t *ret_truth)
{
    struct sp_found *same = sp_alloc((set->same_count + 1) * sizeof *same);
    size_t count = 0;
    for (size_t i = 0; i < set->pair_count; i++)
        if (set->pairs[i].same)
            same[count++] = (struct sp_found){set->pairs[i].a, set->pairs[i].b, true, 1};
    sp_scores_components(same, count, 0, set->page_count, ret_truth);
    sp_free(same);
}
