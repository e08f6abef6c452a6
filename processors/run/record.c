/* The first stage for one record: what was fetched (content, redirect, dead), which page it is (the
 * hash of its canonical URL), its rank, and the signature of its content. */
#include "run/record.h"

#include "base/mem.h"
#include "base/url.h"
#include "group/group.h"

static enum sp_err page_id(struct sp_view url, struct sp_buf *scratch, struct sp_id *ret_id)
{
    sp_buf_reset(scratch);
    enum sp_err err = sp_url_canonical(url, scratch);
    if (err == SP_OK)
        *ret_id = sp_hash128(scratch->data, scratch->len);
    return err;
}

static bool is_redirect(const struct sp_page_record *page)
{
    return page->http_status >= 300 && page->http_status < 400 && page->redirect_url.len > 0;
}

enum sp_err sp_record_message(struct sp_text *text, const struct sp_page_record *page,
                              struct sp_buf *scratch, struct sp_message **ret_message,
                              const char **ret_why)
{
    struct sp_message *m = sp_message_new(SP_MSG_CRAWLED);
    enum sp_err err = page_id(page->url, scratch, &m->page);
    *ret_why = "the url is not usable: it needs a scheme and a host and no control characters";
    if (err != SP_OK)
        goto out;
    if (is_redirect(page)) {
        m->page_kind = SP_PAGE_REDIRECT;
        *ret_why = "the redirect_url is not usable: it needs a scheme and a host";
        err = page_id(page->redirect_url, scratch, &m->target);
        m->target_url = sp_view_dup(page->redirect_url);
    } else if (page->http_status == 404 || page->http_status == 410) {
        m->page_kind = SP_PAGE_DEAD;
    } else if (page->http_status >= 200 && page->http_status < 300 &&
               sp_text_readable(page->content_type)) {
        m->page_kind = SP_PAGE_CONTENT;
        *ret_why = "the content cannot be read as text";
        err = sp_text_signature(text, page->content_type, page->content, page->content_is_utf8,
                                &m->signature);
    } else {
        sp_message_free(m);
        *ret_message = NULL;
        return SP_OK;
    }
    if (err != SP_OK)
        goto out;
    m->url = sp_view_dup(page->url);
    m->version = page->fetch_time_ms > 0 ? page->fetch_time_ms : 0;
    m->rank = sp_rank_of(page->url, page->popularity);
    *ret_message = m;
    return SP_OK;
out:
    sp_message_free(m);
    return err;
}
