/* Validation and repair of UTF-8; ASCII runs are skipped by the vector kernel, the rest goes
 * one code point at a time. Nothing here can fail. */
#include "text/repair.h"

#include "text/scan.h"

bool sp_utf8_valid(struct sp_view text)
{
    const struct sp_scan_kernel *kernel = sp_scan_kernel();
    size_t i = 0;
    while (i < text.len) {
        if (!(text.data[i] & 0x80)) {
            i += kernel->ascii(text.data + i, text.len - i);
            continue;
        }
        size_t size = sp_utf8_length(text.data + i, text.len - i);
        if (size == 0)
            return false;
        i += size;
    }
    return true;
}

bool sp_utf8_likely(struct sp_view text)
{
    size_t characters = 0, errors = 0;
    for (size_t i = 0, size; i < text.len; i += size) {
        sp_utf8_get(text.data + i, text.len - i, &size);
        if (sp_utf8_length(text.data + i, text.len - i) > 0)
            characters += size > 1;
        else
            errors += i + size < text.len;
    }
    return characters > errors;
}

void sp_utf8_repair(struct sp_view text, struct sp_buf *out)
{
    const struct sp_scan_kernel *kernel = sp_scan_kernel();
    size_t i = 0;
    while (i < text.len) {
        size_t n = kernel->ascii(text.data + i, text.len - i);
        sp_buf_put(out, text.data + i, n);
        i += n;
        if (i == text.len)
            break;
        size_t size;
        uint32_t x = sp_utf8_get(text.data + i, text.len - i, &size);
        out->len += sp_utf8_put(sp_buf_reserve(out, 4), x);
        i += size;
    }
}
