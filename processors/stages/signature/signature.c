/* The first stage for one record: what was fetched (content, redirect, dead, the same again), which
 * page it is (the hash of its canonical URL), its rank, and the signature of its content. */
#include "signature/signature.h"

#include "base/mem.h"
#include "base/url.h"
#include "winners/winners.h"

/* Some servers send a Location with a 304, which leads nowhere: the page is unchanged. */
static bool is_redirect(const struct sp_page_record *page)
{
    return page->http_status >= 300 && page->http_status < 400 && page->http_status != 304 &&
           page->redirect_url.len > 0;
}

enum sp_err sp_record_message(struct sp_text *text, const struct sp_page_record *page,
                              struct sp_buf *scratch, struct sp_message **ret_message,
                              const char **ret_why)
{
    struct sp_message *m = sp_message_new(SP_MSG_CRAWLED);
    struct sp_crawled *c = &m->crawled;
    enum sp_err err = sp_url_page(page->url, scratch, &m->page);
    *ret_why = SP_URL_REFUSED;
    if (err != SP_OK)
        goto out;
    c->rank = sp_rank_of(sp_buf_view(scratch), page->popularity);
    if (page->fetch_time_ms >= SP_FETCH_TIME_END) {
        *ret_why = "fetch_time_ms is after the year 2248: milliseconds since 1970 are expected";
        err = SP_MALFORMED;
        goto out;
    }
    if (is_redirect(page)) {
        c->page_kind = SP_PAGE_REDIRECT;
        *ret_why = "the redirect_url is not usable: it needs a scheme and a host, no spaces or "
                   "control characters, and at most 8192 bytes";
        err = sp_url_page(page->redirect_url, scratch, &c->target);
        c->target_url = sp_view_dup(page->redirect_url);
    } else if (page->http_status == 304) {
        c->as_of = page->as_elsewhere ? SP_AS_ELSEWHERE : page->as_of_ms;
    } else if (page->http_status == 404 || page->http_status == 410) {
        c->page_kind = SP_PAGE_DEAD;
    } else if (sp_page_record_succeeded(page) && sp_text_readable(page->content_type)) {
        c->page_kind = SP_PAGE_CONTENT;
        *ret_why = sp_page_record_lacks_content(page);
        if (*ret_why) {
            err = SP_MALFORMED;
            goto out;
        }
        *ret_why = "the content cannot be read as text";
        err = sp_text_signature(text, page->content_type, page->content, page->content_is_utf8,
                                &c->signature);
    } else {
        sp_message_free(m);
        *ret_message = NULL;
        return SP_OK;
    }
    if (err != SP_OK)
        goto out;
    c->url = sp_view_dup(page->url);
    c->version = page->fetch_time_ms > 0 ? page->fetch_time_ms : 0;
    *ret_message = m;
    return SP_OK;
out:
    sp_message_free(m);
    return err;
}

enum sp_err sp_erase_message(struct sp_view url, struct sp_buf *scratch,
                             struct sp_message **ret_message)
{
    struct sp_id page;
    enum sp_err err = sp_url_page(url, scratch, &page);
    if (err != SP_OK)
        return err;
    struct sp_message *m = sp_message_new(SP_MSG_ERASE);
    m->page = page;
    m->erase.url = sp_view_dup(url);
    *ret_message = m;
    return SP_OK;
}
