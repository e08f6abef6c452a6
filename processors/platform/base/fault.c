/* See fault.h. */
#include "base/fault.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

static const char CUT[] = "…";

void sp_fault_tame(char *text)
{
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        bool is_ascii = (*c < ' ' && *c != '\n' && *c != '\t') || *c == 0x7f;
        bool is_latin = *c == 0xc2 && c[1] >= 0x80 && c[1] <= 0x9f; /* in UTF-8 */
        if (is_ascii || is_latin)
            *c = '?';
        if (is_latin)
            *++c = '?';
    }
}

enum sp_err sp_fault_setv(struct sp_fault *fault, enum sp_err err, const char *format, va_list args)
{
    char text[SP_FAULT_BYTES];
    int n = vsnprintf(text, sizeof text, format, args);
    if (n < 0)
        n = snprintf(text, sizeof text, "%s", sp_err_text(err));
    size_t len = (size_t)n;
    if (len >= sizeof text) {
        len = sizeof text - sizeof CUT;
        while (len > 0 && sp_utf8_continues(text[len]))
            len--;
        memcpy(text + len, CUT, sizeof CUT);
        len += sizeof CUT - 1;
    }
    sp_fault_tame(text);
    memcpy(fault->text, text, len + 1);
    return err;
}

enum sp_err sp_fault_set(struct sp_fault *fault, enum sp_err err, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    sp_fault_setv(fault, err, format, args);
    va_end(args);
    return err;
}
