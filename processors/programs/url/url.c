/* See samepage/url.h. */
#include "samepage/url.h"

#include <string.h>

#include "base/url.h"

size_t samepage_url_canonical(const char *url, size_t bytes, char *out, size_t size)
{
    struct sp_buf canonical = {0};
    size_t length = 0;
    if (sp_url_canonical(sp_view(url, bytes), &canonical) == SP_OK)
        length = canonical.len;
    if (length && length < size) {
        memcpy(out, canonical.data, length);
        out[length] = 0;
    }
    sp_buf_done(&canonical);
    return length;
}
