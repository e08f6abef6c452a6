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

/* What a fetch says about its page. */
enum says { SAYS_CONTENT, SAYS_REDIRECT, SAYS_DEAD, SAYS_UNCHANGED, SAYS_NOTHING };

static enum says what_it_says(const struct sp_page_record *page)
{
    if (is_redirect(page))
        return SAYS_REDIRECT;
    if (page->http_status == 304)
        return SAYS_UNCHANGED;
    if (page->http_status == 404 || page->http_status == 410)
        return SAYS_DEAD;
    if (sp_page_record_succeeded(page) && sp_text_readable(page->content_type))
        return SAYS_CONTENT;
    return SAYS_NOTHING;
}

/* Which page it is, how it ranks, and when it was fetched. */
static enum sp_err take_page(const struct sp_page_record *page, struct sp_buf *scratch,
                             struct sp_message *m, const char **ret_why)
{
    struct sp_crawled *c = &m->crawled;
    enum sp_err err = sp_url_page(page->url, scratch, &m->page);
    if (err != SP_OK) {
        *ret_why = SP_URL_REFUSED;
        return err;
    }
    if (page->fetch_time_ms >= SP_FETCH_TIME_END) {
        *ret_why = "fetch_time_ms is after the year 2248: milliseconds since 1970 are expected";
        return SP_MALFORMED;
    }
    c->rank = sp_rank_of(sp_buf_view(scratch), page->popularity);
    c->url = sp_view_dup(page->url);
    c->version = page->fetch_time_ms > 0 ? page->fetch_time_ms : 0;
    return SP_OK;
}

static enum sp_err take_redirect(const struct sp_page_record *page, struct sp_buf *scratch,
                                 struct sp_crawled *c, const char **ret_why)
{
    *ret_why = "the redirect_url is not usable: it needs a scheme and a host, no spaces or "
               "control characters, and at most 8192 bytes";
    c->page_kind = SP_PAGE_REDIRECT;
    c->target_url = sp_view_dup(page->redirect_url);
    return sp_url_page(page->redirect_url, scratch, &c->target);
}

static enum sp_err take_content(struct sp_text *text, const struct sp_page_record *page,
                                struct sp_crawled *c, const char **ret_why)
{
    c->page_kind = SP_PAGE_CONTENT;
    *ret_why = sp_page_record_lacks_content(page);
    if (*ret_why)
        return SP_MALFORMED;
    c->signature =
        sp_text_signature(text, page->content_type, page->content, page->content_is_utf8);
    return SP_OK;
}

enum sp_err sp_record_message(struct sp_text *text, const struct sp_page_record *page,
                              struct sp_buf *scratch, struct sp_message **ret_message,
                              const char **ret_why)
{
    enum says says = what_it_says(page);
    struct sp_message *m = sp_message_new(SP_MSG_CRAWLED);
    enum sp_err err = take_page(page, scratch, m, ret_why);
    if (err == SP_OK && says == SAYS_CONTENT)
        err = take_content(text, page, &m->crawled, ret_why);
    else if (err == SP_OK && says == SAYS_REDIRECT)
        err = take_redirect(page, scratch, &m->crawled, ret_why);
    else if (says == SAYS_DEAD)
        m->crawled.page_kind = SP_PAGE_DEAD;
    else if (says == SAYS_UNCHANGED) /* the kind stays SP_PAGE_UNSEEN */
        m->crawled.as_of = page->as_elsewhere ? SP_AS_ELSEWHERE : page->as_of_ms;
    if (err != SP_OK || says == SAYS_NOTHING) {
        sp_message_free(m);
        m = NULL;
    }
    if (err == SP_OK)
        *ret_message = m;
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
