/* links: sp_serve sp_base */
/* Any bytes as the body of POST /v1/filter: a list, or a reason for refusal; never a crash. The
 * bytes after the body do not change the result. */
#include "base/assert.h"
#include "base/hash.h"
#include "serve/request.h"

enum { MOST = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t seen(uint64_t hash, struct sp_view v)
{
    return sp_mix64(hash ^ (v.len ? sp_hash64(v.data, v.len) : 0)) + !!v.data;
}

/* The result of a parse as one number. */
static uint64_t parse(struct sp_json_lists *lists, struct sp_view body)
{
    const struct sp_list *list = NULL;
    const char *why = NULL;
    enum sp_err err = sp_json_lists_parse(lists, body, &list, &why);
    if (err != SP_OK) {
        SP_ASSERT((err == SP_MALFORMED || err == SP_TOO_LARGE) && why && *why && !list);
        return seen(err, sp_view_str(why));
    }
    SP_ASSERT(list->count <= MOST && list->threshold >= 0 && list->threshold <= 1);
    uint64_t hash = list->count;
    for (size_t i = 0; i < list->count; i++) {
        SP_ASSERT(list->items[i].url.data);
        hash = seen(hash, list->items[i].url);
        hash = seen(hash, list->items[i].text);
        hash = seen(hash, list->items[i].content_type);
    }
    return hash;
}

/* Parses the body in memory that ends with padding bytes of value `behind`. */
static uint64_t parse_before(struct sp_json_lists *lists, const uint8_t *data, size_t size,
                             const char *behind)
{
    char *body = sp_alloc(size + SP_REQUEST_PADDING);
    memset(body, ' ', size + SP_REQUEST_PADDING);
    if (size)
        memcpy(body, data, size);
    memcpy(body + size, behind, strlen(behind));
    uint64_t hash = parse(lists, sp_view(body, size));
    sp_free(body);
    return hash;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct sp_json_lists *lists = sp_json_lists_new(MOST);
    uint64_t hash = parse_before(lists, data, size, "");
    SP_ASSERT(parse_before(lists, data, size, "\"]}],\"threshold\":0.5}") == hash);
    sp_json_lists_free(lists);
    return 0;
}
