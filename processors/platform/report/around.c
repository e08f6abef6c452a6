/* What surrounds tables and plots: the scrolling element, and the mark of a small sample. */
#include <stdio.h>

#include "report/axis.h"
#include "report/internal.h"

void sp_report_sample(struct sp_report *r, uint64_t count, uint64_t enough, const char *what)
{
    char is[40], least[40];
    r->note[0] = 0;
    if (count >= enough)
        return;
    snprintf(is, sizeof is, "%llu", (unsigned long long)count);
    snprintf(least, sizeof least, "%llu", (unsigned long long)enough);
    sp_digits_group(is, sizeof is);
    sp_digits_group(least, sizeof least);
    snprintf(r->note, sizeof r->note, "small sample: %s %s, below %s", is, what, least);
}

void sp_report_no_sample(struct sp_report *r)
{
    r->note[0] = 0;
}

void sp_report_put_note(struct sp_report *r)
{
    if (!r->note[0])
        return;
    sp_buf_put_str(&r->body, " <span class=\"few\">");
    sp_html_put_str(&r->body, r->note);
    sp_buf_put_str(&r->body, "</span>");
}

void sp_report_begin_wide(struct sp_report *r, const char *caption)
{
    sp_buf_put_str(&r->body, "<div class=\"wide\" role=\"group\" tabindex=\"0\" aria-label=\"");
    sp_html_put_str(&r->body, caption);
    sp_buf_put_str(&r->body, "\">\n");
}
