/* See url.h. Splits at the delimiters of RFC 3986 section 3 and touches only what the
 * section on normalisation calls safe. */
#include "base/url.h"

struct parts {
    struct sp_view scheme;    /* without ':' ; empty: none */
    struct sp_view authority; /* without "//"; data NULL: none */
    struct sp_view path;
    struct sp_view query;    /* with '?'; empty: none */
    struct sp_view fragment; /* with '#'; empty: none */
};

static bool is_alpha(char c)
{
    return (unsigned)((c | 0x20) - 'a') < 26u;
}

/* What a scheme may have after its first letter, besides letters. */
static bool is_inner(char c)
{
    return (unsigned)(c - '0') < 10u || c == '+' || c == '-' || c == '.';
}

static char lower(char c)
{
    return (unsigned)(c - 'A') < 26u ? (char)(c | 0x20) : c;
}

static struct sp_view cut(struct sp_view *rest, size_t len)
{
    struct sp_view head = sp_view(rest->data, len);
    if (len) /* NULL + 0 is undefined */
        *rest = sp_view(rest->data + len, rest->len - len);
    return head;
}

/* Bytes before the first of the characters in `stops`. */
static size_t span(struct sp_view v, const char *stops)
{
    size_t len = v.len;
    for (; *stops && len; stops++) {
        const char *at = memchr(v.data, *stops, len);
        len = at ? (size_t)(at - v.data) : len;
    }
    return len;
}

static struct parts split(struct sp_view url)
{
    struct parts p = {0};
    size_t i = 0;
    while (i < url.len && (is_alpha(url.data[i]) || (i && is_inner(url.data[i]))))
        i++;
    if (i > 0 && i < url.len && url.data[i] == ':') {
        p.scheme = cut(&url, i);
        cut(&url, 1);
    }
    if (url.len >= 2 && memcmp(url.data, "//", 2) == 0) {
        cut(&url, 2);
        p.authority = cut(&url, span(url, "/?#"));
    }
    p.path = cut(&url, span(url, "?#"));
    p.query = cut(&url, span(url, "#"));
    p.fragment = url;
    return p;
}

static bool usable_bytes(struct sp_view url)
{
    if (url.len == 0 || url.len > SP_URL_MAX_BYTES)
        return false;
    for (size_t i = 0; i < url.len; i++)
        if ((uint8_t)url.data[i] <= ' ' || url.data[i] == 0x7f)
            return false;
    return true;
}

static bool scheme_is(struct sp_view scheme, const char *name)
{
    size_t i = 0;
    for (; i < scheme.len && name[i]; i++)
        if (lower(scheme.data[i]) != name[i])
            return false;
    return i == scheme.len && !name[i];
}

/* Bytes of user information, with its '@'. */
static size_t user_bytes(struct sp_view authority)
{
    size_t user = 0;
    for (size_t i = 0; i < authority.len; i++)
        if (authority.data[i] == '@')
            user = i + 1;
    return user;
}

static bool is_default_port(struct sp_view scheme, struct sp_view port)
{
    return port.len == 0 || (scheme_is(scheme, "http") && sp_view_eq(port, sp_view_str("80"))) ||
           (scheme_is(scheme, "https") && sp_view_eq(port, sp_view_str("443")));
}

/* Removes default ports until none is left, so that the result is its own canonical form. */
static struct sp_view without_default_port(struct sp_view scheme, struct sp_view host)
{
    for (;;) {
        size_t i = host.len;
        while (i > 0 && (unsigned)(host.data[i - 1] - '0') < 10u)
            i--;
        if (i == 0 || host.data[i - 1] != ':' ||
            !is_default_port(scheme, sp_view(host.data + i, host.len - i)))
            return host;
        host.len = i - 1;
    }
}

static void put_lower(struct sp_buf *out, struct sp_view v)
{
    char *at = sp_buf_reserve(out, v.len);
    for (size_t i = 0; i < v.len; i++)
        at[i] = lower(v.data[i]);
    out->len += v.len;
}

struct sp_view sp_url_host(struct sp_view canonical)
{
    struct sp_view authority = split(canonical).authority;
    cut(&authority, user_bytes(authority));
    return authority;
}

enum sp_err sp_url_canonical(struct sp_view url, struct sp_buf *out)
{
    if (!usable_bytes(url))
        return SP_NO_URL;
    size_t before = out->len;
    struct parts p = split(url);
    struct sp_view host = p.authority, user = cut(&host, user_bytes(host));
    host = without_default_port(p.scheme, host);
    if (scheme_is(p.scheme, "doc") && !p.authority.data && p.path.len > 0) {
        sp_buf_put_str(out, "doc:");
        sp_buf_put_view(out, p.path);
        sp_buf_put_view(out, p.query);
        return SP_OK;
    }
    if (p.scheme.len == 0 || !user.data || host.len == 0 || host.data[0] == ':')
        return SP_NO_URL;
    put_lower(out, p.scheme);
    sp_buf_put_str(out, "://");
    sp_buf_put_view(out, user); /* user information keeps its case, the host does not */
    put_lower(out, host);
    if (p.path.len == 0)
        sp_buf_put_str(out, "/");
    sp_buf_put_view(out, p.path);
    sp_buf_put_view(out, p.query);
    if (out->len - before <= SP_URL_MAX_BYTES)
        return SP_OK;
    out->len = before; /* the slash that was added made it too long */
    return SP_NO_URL;
}

/* Appends the path with its "." and ".." segments removed (RFC 3986 section 5.2.4). */
static void put_without_dots(struct sp_buf *out, struct sp_view path)
{
    size_t start = out->len;
    while (path.len > 0) {
        size_t slash = path.data[0] == '/';
        struct sp_view rest = sp_view(path.data + slash, path.len - slash);
        struct sp_view segment = sp_view(rest.data, span(rest, "/"));
        bool up = sp_view_eq(segment, sp_view_str(".."));
        bool last = segment.len == rest.len;
        if (up) {
            while (out->len > start && out->data[--out->len] != '/')
                ;
        }
        if (up || sp_view_eq(segment, sp_view_str("."))) {
            if (last)
                sp_buf_put_str(out, "/");
        } else {
            sp_buf_put(out, path.data, slash + segment.len);
        }
        cut(&path, slash + segment.len);
    }
}

enum sp_err sp_url_page(struct sp_view url, struct sp_buf *canonical, struct sp_id *ret_page)
{
    sp_buf_reset(canonical);
    enum sp_err err = sp_url_canonical(url, canonical);
    if (err == SP_OK)
        *ret_page = sp_hash128(canonical->data, canonical->len);
    return err;
}

static void put_merged_path(struct sp_buf *out, const struct parts *base, struct sp_view path)
{
    struct sp_buf merged = {0};
    size_t keep = base->path.len;
    while (keep > 0 && base->path.data[keep - 1] != '/')
        keep--;
    sp_buf_put(&merged, base->path.data, keep);
    if (keep == 0)
        sp_buf_put_str(&merged, "/");
    sp_buf_put_view(&merged, path);
    put_without_dots(out, sp_buf_view(&merged));
    sp_buf_done(&merged);
}

enum sp_err sp_url_resolve(struct sp_view base_url, struct sp_view reference, struct sp_buf *out)
{
    struct parts base = split(base_url), r = split(reference);
    struct sp_view scheme = r.scheme.len ? r.scheme : base.scheme;
    struct sp_view authority = r.scheme.len || r.authority.data ? r.authority : base.authority;
    if (scheme.len == 0 || authority.len == 0)
        return SP_NO_URL;
    sp_buf_put_view(out, scheme);
    sp_buf_put_str(out, "://");
    sp_buf_put_view(out, authority);
    struct sp_view query = r.query;
    if (r.scheme.len || r.authority.data || (r.path.len && r.path.data[0] == '/')) {
        put_without_dots(out, r.path);
    } else if (r.path.len) {
        put_merged_path(out, &base, r.path);
    } else {
        sp_buf_put_view(out, base.path);
        query = r.query.len ? r.query : base.query;
    }
    sp_buf_put_view(out, query);
    sp_buf_put_view(out, r.fragment);
    return SP_OK;
}
