/* Serves the page and the description of the API, which are files inside the program. */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "serve/assets.h"
#include "serve/handler.h"

/* The nonce of this response's own scripts: no other script may run (Content-Security-Policy). */
static void choose_nonce(char nonce[SP_NONCE_TEXT])
{
    unsigned char bytes[(SP_NONCE_TEXT - 1) / 2] = {0};
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        bytes[0] = 1; /* before the machine has randomness; the page contains no secret */
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
}

unsigned sp_handle_page(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    static const char mark[] = "@NONCE@";
    struct sp_view page = sp_asset_page();
    (void)s, (void)q;
    choose_nonce(t->nonce);
    for (;;) {
        const char *at = memmem(page.data, page.len, mark, sizeof mark - 1);
        size_t before = at ? (size_t)(at - page.data) : page.len;
        sp_buf_put(&t->out, page.data, before);
        if (!at)
            return MHD_HTTP_OK;
        sp_buf_put_str(&t->out, t->nonce);
        page = sp_view(at + sizeof mark - 1, page.len - before - (sizeof mark - 1));
    }
}

unsigned sp_handle_openapi(struct sp_serve *s, struct sp_serve_thread *t, const struct sp_query *q)
{
    (void)s, (void)q;
    sp_buf_put_view(&t->out, sp_asset_openapi());
    return MHD_HTTP_OK;
}
