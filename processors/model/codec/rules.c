/* What actors assume of a message of each kind. */
#include "codec/asker.h"

bool sp_codec_keeps_rules(const struct sp_message *m)
{
    const struct sp_crawled *c = &m->crawled;
    switch (m->kind) {
    case SP_MSG_CRAWLED:
        if (c->page_kind == SP_PAGE_REDIRECT && (sp_id_is_zero(c->target) || !c->target_url))
            return false;
        return (c->signature != NULL) == (c->page_kind == SP_PAGE_CONTENT);
    case SP_MSG_CHANGE:
        return !m->change.signature || m->change.page_kind == SP_PAGE_CONTENT;
    case SP_MSG_MATCH:
    case SP_MSG_FIND_GROUP:
    case SP_MSG_LINK:
    case SP_MSG_UNION:
    case SP_MSG_DISSOLVE:
        return m->link.edge_count > 0;
    case SP_MSG_STATUS: /* a page without a group would found one, without a text */
        return m->verdict.far.birth > 0;
    case SP_MSG_APPLIED:
    case SP_MSG_ASSIGNED:
    case SP_MSG_MOVE:
    case SP_MSG_MEMBERS:
    case SP_MSG_ERASE:
    case SP_MSG_WAIT:
    case SP_MSG_PUT:
    case SP_MSG_REMOVE:
    case SP_MSG_PROBE:
    case SP_MSG_AGAIN:
        return true;
    }
    return false;
}
