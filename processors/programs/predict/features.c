/* See features.h. A URL is scheme "://" host path ["?" query]. The rest of a URL without a feature
 * is hashed piece by piece, with a mark in place of the feature. The order of parameters does not
 * matter. */
#include "predict/features.h"

#include <strings.h>

#include "base/bytes.h"
#include "base/mem.h"

enum { PARAMETERS = 12, SEGMENTS = 12 };

struct parts {
    struct sp_view scheme;
    struct sp_view host;
    struct sp_view path;  /* from its slash on */
    struct sp_view query; /* without "?" */
    struct sp_view segments[SEGMENTS];
    size_t segment_count;
    struct sp_view parameters[PARAMETERS];
    size_t parameter_count;
    struct sp_view more; /* the rest of the query, after these parameters */
};

static void drop(struct sp_view *text, size_t n)
{
    *text = sp_view(text->data + n, text->len - n);
}

static bool split(struct sp_view url, struct parts *p)
{
    struct sp_view rest = url;
    *p = (struct parts){0};
    p->scheme = sp_view_cut(&rest, ":");
    if (rest.len < 4 || memcmp(rest.data, "://", 3) != 0 || memchr(url.data, 0, url.len))
        return false;
    drop(&rest, 3);
    p->host = sp_view_cut(&rest, "/?#");
    p->path = sp_view_cut(&rest, "?#");
    p->query = sp_view(rest.data, 0);
    if (rest.len > 0 && rest.data[0] == '?') {
        drop(&rest, 1);
        p->query = sp_view_cut(&rest, "#");
    }
    struct sp_view path = p->path;
    while (path.len > 0 && p->segment_count < SEGMENTS) {
        drop(&path, 1);
        p->segments[p->segment_count++] = sp_view_cut(&path, "/");
    }
    struct sp_view query = p->query;
    while (query.len > 0 && p->parameter_count < PARAMETERS) {
        p->parameters[p->parameter_count++] = sp_view_cut(&query, "&;");
        if (query.len > 0)
            drop(&query, 1);
    }
    p->more = query;
    return p->host.len > 0;
}

struct sp_view sp_feature_host(struct sp_view url)
{
    struct parts p;
    return split(url, &p) ? p.host : sp_view("", 0);
}

/* ---- what is left without a feature ---- */

static struct sp_id mixed(struct sp_id a, struct sp_view text)
{
    struct sp_id b = sp_hash128(text.data, text.len);
    return (struct sp_id){sp_mix64(a.hi + b.hi), sp_mix64(a.lo ^ b.lo) + a.hi};
}

/* The parameters' hashes are added up, so that their order does not matter. */
static struct sp_id query_id(const struct parts *p, size_t without)
{
    struct sp_id sum = {0, 0};
    for (size_t i = 0; i < p->parameter_count; i++) {
        struct sp_id one = sp_hash128(p->parameters[i].data, p->parameters[i].len);
        if (i == without || p->parameters[i].len == 0)
            continue;
        sum.hi += sp_mix64(one.hi);
        sum.lo += sp_mix64(one.lo);
    }
    return mixed(sum, p->more);
}

enum { ALL = PARAMETERS };

/* The pieces of a URL, in the order in which they are hashed. A mark says which feature is left
 * out. */
struct pieces {
    struct sp_view scheme;
    struct sp_view host;
    struct sp_view before; /* the path before the feature */
    struct sp_view behind;
    struct sp_id query;
};

static struct pieces whole(const struct parts *p)
{
    return (struct pieces){p->scheme, p->host, p->path, sp_view("", 0), query_id(p, ALL)};
}

static struct sp_id pieces_id(enum sp_feature_kind kind, struct sp_view name,
                              const struct pieces *x)
{
    struct sp_id id = {kind, x->query.hi};
    id = mixed(id, name);
    id = mixed(id, x->scheme);
    id = mixed(id, x->host);
    id = mixed(id, x->before);
    id.lo ^= x->query.lo;
    return mixed(id, x->behind);
}

struct list {
    struct sp_feature *items;
    size_t count;
};

static void add(struct list *l, enum sp_feature_kind kind, struct sp_view name,
                struct sp_view value, const struct pieces *rest)
{
    if (l->count < SP_PREDICT_FEATURES)
        l->items[l->count++] = (struct sp_feature){
            .kind = kind, .rest = pieces_id(kind, name, rest), .name = name, .value = value};
}

/* ---- the features ---- */

static const struct sp_view none = {"", 0};

static void add_site(struct list *l, const struct parts *p)
{
    struct pieces x = whole(p);
    x.scheme = none;
    add(l, SP_FEATURE_SCHEME, none, p->scheme, &x);
    x = whole(p);
    x.host = none;
    add(l, SP_FEATURE_HOST, none, p->host, &x);
}

static void add_case(struct list *l, const struct parts *p)
{
    struct sp_buf lower = {0};
    struct pieces x = whole(p);
    sp_buf_put_view(&lower, p->path);
    sp_buf_put_u8(&lower, '?');
    sp_buf_put_view(&lower, p->query);
    for (size_t i = 0; i < lower.len; i++)
        if (lower.data[i] >= 'A' && lower.data[i] <= 'Z')
            lower.data[i] = (char)(lower.data[i] + 32);
    x.before = sp_buf_view(&lower);
    x.query = (struct sp_id){0, 0};
    add(l, SP_FEATURE_CASE, none, none, &x);
    sp_buf_done(&lower);
}

static bool is_index(struct sp_view name)
{
    static const char *const names[] = {"index.", "default.", "home.", "welcome."};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (name.len > strlen(names[i]) && strncasecmp(name.data, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void add_index(struct list *l, const struct parts *p)
{
    struct pieces x = whole(p);
    size_t end = p->path.len;
    struct sp_view last = p->segment_count ? p->segments[p->segment_count - 1] : none;
    bool is_last = last.data + last.len == p->path.data + p->path.len;
    if (is_last && is_index(last))
        end -= last.len;
    while (end > 0 && p->path.data[end - 1] == '/')
        end--;
    x.before = sp_view(p->path.data, end);
    add(l, SP_FEATURE_INDEX, none, sp_view(p->path.data + end, p->path.len - end), &x);
}

static void add_extension(struct list *l, const struct parts *p)
{
    struct pieces x = whole(p);
    size_t slash = p->path.len, dot;
    while (slash > 0 && p->path.data[slash - 1] != '/')
        slash--;
    for (dot = slash; dot < p->path.len && p->path.data[dot] != '.'; dot++)
        ;
    if (dot == slash)
        return; /* no name before it */
    x.before = sp_view(p->path.data, dot);
    add(l, SP_FEATURE_EXTENSION, none, sp_view(p->path.data + dot, p->path.len - dot), &x);
}

static void add_session(struct list *l, const struct parts *p)
{
    struct pieces x = whole(p);
    struct sp_view rest = p->path;
    x.before = sp_view_cut(&rest, ";");
    struct sp_view behind = rest, session = sp_view_cut(&behind, "/");
    x.behind = behind;
    add(l, SP_FEATURE_SESSION, none, session, &x);
}

static void add_query(struct list *l, const struct parts *p)
{
    struct pieces x = whole(p);
    for (size_t i = 0; i < p->parameter_count; i++) {
        struct sp_view value = p->parameters[i], name = sp_view_cut(&value, "=");
        x.query = query_id(p, i);
        add(l, SP_FEATURE_PARAMETER, name, value, &x);
        l->items[l->count - 1].bare = pieces_id(SP_FEATURE_KINDS, none, &x);
    }
    x.query = (struct sp_id){0, 0};
    add(l, SP_FEATURE_QUERY, none, p->query, &x); /* of equally good rules the first is taken */
}

struct sp_id sp_features_bare(struct sp_view url)
{
    struct parts p;
    if (!split(url, &p))
        return (struct sp_id){0, 0};
    struct pieces x = whole(&p);
    return pieces_id(SP_FEATURE_KINDS, none, &x);
}

static void add_segments(struct list *l, const struct parts *p)
{
    static const char numbers[] = "01234567891011";
    for (size_t i = 0; i < p->segment_count; i++) {
        struct pieces x = whole(p);
        struct sp_view segment = p->segments[i];
        const char *end = segment.data + segment.len;
        if (segment.len == 0)
            continue;
        x.before = sp_view(p->path.data, (size_t)(segment.data - p->path.data));
        x.behind = sp_view(end, (size_t)(p->path.data + p->path.len - end));
        struct sp_view number =
            i < 10 ? sp_view(numbers + i, 1) : sp_view(numbers + 10 + 2 * (i - 10), 2);
        add(l, SP_FEATURE_SEGMENT, number, segment, &x);
    }
}

size_t sp_features(struct sp_view url, struct sp_feature ret_features[SP_PREDICT_FEATURES])
{
    struct parts p;
    struct list l = {ret_features, 0};
    if (!split(url, &p))
        return 0;
    add_site(&l, &p);
    add_case(&l, &p);
    add_index(&l, &p);
    add_extension(&l, &p);
    add_session(&l, &p);
    add_query(&l, &p);
    add_segments(&l, &p);
    return l.count;
}
