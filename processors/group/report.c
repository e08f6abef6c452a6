/* Reading a committed store of the group stage from outside: for reports, and for the check from
 * scratch. */
#include "base/mem.h"
#include "group/internal.h"

struct walk {
    void (*each_page)(void *arg, const struct sp_page_view *page);
    void (*each_signature)(void *arg, struct sp_signature *signature);
    void *arg;
    enum sp_err err;
};

static bool visit_page(void *arg, struct sp_view key, struct sp_view value)
{
    struct walk *w = arg;
    struct page *p = sp_calloc(1, sizeof *p);
    w->err = key.len == 1 + sizeof p->id ? page_decode(value, p) : SP_CORRUPT;
    if (w->err == SP_OK) {
        memcpy(&p->id, key.data + 1, sizeof p->id);
        struct sp_page_view v = {p->id,     p->url,        p->version,    p->kind,
                                 p->target, p->content,    p->rank,       p->group,
                                 p->status, p->winner_url, p->similarity, p->reason};
        w->each_page(w->arg, &v);
    }
    page_free(p);
    return w->err == SP_OK;
}

enum sp_err sp_group_each_page(struct sp_store *store,
                               void (*each)(void *arg, const struct sp_page_view *page), void *arg)
{
    struct walk w = {each, NULL, arg, SP_OK};
    enum sp_err err = sp_store_scan(store, sp_view("P", 1), sp_view(NULL, 0), visit_page, &w);
    return err != SP_OK ? err : w.err;
}

static bool visit_signature(void *arg, struct sp_view key, struct sp_view value)
{
    struct walk *w = arg;
    (void)key;
    struct sp_reader r = sp_reader(value);
    struct sp_signature *s = NULL;
    sp_read_varint(&r);
    if (sp_signature_decode(sp_view(r.at, sp_reader_left(&r)), &s)) {
        w->err = SP_CORRUPT;
        return false;
    }
    w->each_signature(w->arg, s);
    sp_signature_unref(s);
    return true;
}

enum sp_err sp_group_each_signature(struct sp_store *store,
                                    void (*each)(void *arg, struct sp_signature *signature),
                                    void *arg)
{
    struct walk w = {NULL, each, arg, SP_OK};
    enum sp_err err = sp_store_scan(store, sp_view("S", 1), sp_view(NULL, 0), visit_signature, &w);
    return err != SP_OK ? err : w.err;
}
