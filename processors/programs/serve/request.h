/* The body of POST /v1/filter, by simdjson. Private to this folder.
 *
 *   {"urls": ["http://…", …], "threshold": 0.8}
 *   {"documents": [{"url": "…", "text": "…", "content_type": "text/html"}, …]}
 */
#ifndef SP_SERVE_REQUEST_H
#define SP_SERVE_REQUEST_H

#include "base/bytes.h"
#include "base/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes that must be readable after a body. */
enum { SP_REQUEST_PADDING = 64 };

struct sp_list_item {
    struct sp_view url;
    struct sp_view text; /* data NULL: none was sent */
    struct sp_view content_type;
};

struct sp_list {
    struct sp_list_item *items;
    size_t count;
    double threshold; /* 0: not given */
};

/* A parser and its memory. */
struct sp_json_lists;

struct sp_json_lists *sp_json_lists_new(size_t most_items);
void sp_json_lists_free(struct sp_json_lists *lists);

/* Views of the list belong to the parser or the body, until the next call. SP_MALFORMED,
 * SP_TOO_LARGE (more than most_items): *ret_why is a sentence, also until the next call. */
enum sp_err sp_json_lists_parse(struct sp_json_lists *lists, struct sp_view body,
                                const struct sp_list **ret_list, const char **ret_why);

#ifdef __cplusplus
}
#endif

#endif
