/* links: sp_base */
/* Any bytes as a URL or, cut at the first newline, as a page's URL and a reference on that page. A
 * canonical form is its own canonical form, names a host, and does not depend on the case of scheme
 * and host, on a default port or on a fragment. */
#include "base/assert.h"
#include "base/url.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool has(struct sp_view v, const char *bytes)
{
    for (size_t i = 0; i < v.len; i++)
        if (strchr(bytes, v.data[i]))
            return true;
    return false;
}

static void check_same(struct sp_view url, struct sp_view canonical)
{
    struct sp_buf out = {0};
    SP_ASSERT(sp_url_canonical(url, &out) == SP_OK);
    SP_ASSERT(sp_view_eq(sp_buf_view(&out), canonical));
    sp_buf_done(&out);
}

/* Another spelling: scheme and host in upper case, plus a fragment. */
static void check_spelling(struct sp_view canonical, struct sp_view host)
{
    struct sp_buf other = {0};
    sp_buf_put_view(&other, canonical);
    size_t from = (size_t)(host.data - canonical.data);
    for (size_t i = 0; i < from + host.len; i++) {
        bool scheme = i < strcspn(canonical.data, ":"),
             letter = (unsigned)(other.data[i] - 'a') < 26;
        if ((scheme || i >= from) && letter)
            other.data[i] = (char)(other.data[i] - 'a' + 'A');
    }
    sp_buf_put_str(&other, "#fragment");
    if (other.len <= SP_URL_MAX_BYTES)
        check_same(sp_buf_view(&other), canonical);
    sp_buf_done(&other);
}

static void check_canonical(struct sp_view url)
{
    struct sp_buf out = {0};
    sp_buf_put_str(&out, "before ");
    size_t before = out.len;
    enum sp_err err = sp_url_canonical(url, &out);
    if (err == SP_OK) {
        sp_buf_put_u8(&out, 0); /* a text, for the checks */
        struct sp_view canonical = sp_view(out.data + before, out.len - before - 1);
        SP_ASSERT(canonical.len > 0 && canonical.len <= SP_URL_MAX_BYTES);
        SP_ASSERT(!has(canonical, "\n\t #"));
        check_same(canonical, canonical);
        struct sp_view host = sp_url_host(canonical);
        if (memcmp(canonical.data, "doc:", 4) != 0) {
            SP_ASSERT(host.len > 0 && host.data[0] != ':' && !has(host, "/?#@"));
            check_spelling(canonical, host);
        }
    } else {
        SP_ASSERT(err == SP_NO_URL && out.len == before);
    }
    sp_buf_done(&out);
}

static void check_resolve(struct sp_view base, struct sp_view reference)
{
    struct sp_buf out = {0};
    enum sp_err err = sp_url_resolve(base, reference, &out);
    SP_ASSERT(err == SP_OK || (err == SP_NO_URL && out.len == 0));
    if (err == SP_OK)
        check_canonical(sp_buf_view(&out));
    sp_buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_view in = sp_view(data, size);
    const char *newline = size ? memchr(in.data, '\n', size) : NULL;
    check_canonical(in);
    if (newline) {
        size_t len = (size_t)(newline - in.data);
        check_resolve(sp_view(in.data, len), sp_view(newline + 1, size - len - 1));
    }
    return 0;
}
