/* Tables: the same cells as HTML, rounded, and as CSV, exact. */
#include <math.h>
#include <stdio.h>

#include "base/assert.h"
#include "base/mem.h"
#include "report/axis.h"
#include "report/internal.h"

struct sp_table {
    char *name;
    char *caption;
    size_t columns;
    size_t at;          /* column of the next cell */
    struct sp_buf rows; /* HTML */
    struct sp_buf csv;
    struct sp_buf header; /* HTML */
};

struct sp_table *sp_table_new(const char *name, const char *caption, const char *const *columns,
                              size_t column_count)
{
    sp_report_check_name(name);
    SP_ASSERT(column_count > 0);
    struct sp_table *t = sp_calloc(1, sizeof *t);
    t->name = sp_strdup(name);
    t->caption = sp_strdup(caption);
    t->columns = column_count;
    for (size_t i = 0; i < column_count; i++) {
        sp_buf_put_str(&t->header, "<th scope=\"col\">");
        sp_html_put_str(&t->header, columns[i]);
        sp_buf_put_str(&t->header, "</th>");
        if (i)
            sp_buf_put_u8(&t->csv, ',');
        sp_csv_put(&t->csv, sp_view_str(columns[i]));
    }
    sp_buf_put_str(&t->csv, "\r\n");
    return t;
}

static void begin_cell(struct sp_table *t, const char *tag)
{
    if (t->at == 0)
        sp_buf_put_str(&t->rows, "<tr>");
    else
        sp_buf_put_u8(&t->csv, ',');
    sp_buf_put_str(&t->rows, tag);
}

static void end_cell(struct sp_table *t)
{
    sp_buf_put_str(&t->rows, "</td>");
    if (++t->at < t->columns)
        return;
    t->at = 0;
    sp_buf_put_str(&t->rows, "</tr>\n");
    sp_buf_put_str(&t->csv, "\r\n");
}

void sp_table_text(struct sp_table *t, const char *text)
{
    begin_cell(t, "<td>");
    sp_html_put_str(&t->rows, text);
    sp_csv_put(&t->csv, sp_view_str(text));
    end_cell(t);
}

static void put_number(struct sp_table *t, double x, double shown, int decimals, const char *unit)
{
    begin_cell(t, "<td class=\"n\">");
    if (isfinite(x))
        sp_html_putf(&t->rows, "%.*f%s", decimals, shown, unit);
    sp_csv_put_number(&t->csv, x);
    end_cell(t);
}

void sp_table_number(struct sp_table *t, double x, int decimals)
{
    put_number(t, x, x, decimals, "");
}

void sp_table_percent(struct sp_table *t, double share, int decimals)
{
    put_number(t, share, share * 100, decimals, " %");
}

void sp_table_seconds(struct sp_table *t, double seconds)
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{1, " s"}, {60, " min"}, {3600, " h"}, {86400, " days"}};
    size_t unit = sizeof units / sizeof *units - 1;
    while (unit > 0 && seconds < 2 * units[unit].seconds)
        unit--;
    double shown = seconds / units[unit].seconds;
    put_number(t, seconds, shown, shown < 1 ? 2 : shown < 10 ? 1 : 0, units[unit].name);
}

void sp_table_count(struct sp_table *t, uint64_t n)
{
    char digits[40];
    snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
    sp_digits_group(digits, sizeof digits);
    begin_cell(t, "<td class=\"n\">");
    sp_buf_put_str(&t->rows, digits);
    sp_html_putf(&t->csv, "%llu", (unsigned long long)n);
    end_cell(t);
}

void sp_table_blank(struct sp_table *t)
{
    begin_cell(t, "<td>");
    end_cell(t);
}

void sp_report_table(struct sp_report *r, struct sp_table *t)
{
    SP_ASSERT(t->at == 0);
    sp_report_begin_wide(r, t->caption);
    sp_buf_put_str(&r->body, "<table>\n<caption>");
    sp_html_put_str(&r->body, t->caption);
    sp_html_putf(&r->body, " (<a href=\"%s.csv\">CSV</a>)", t->name);
    sp_report_put_note(r);
    sp_buf_put_str(&r->body, "</caption>\n<thead><tr>");
    sp_buf_put_view(&r->body, sp_buf_view(&t->header));
    sp_buf_put_str(&r->body, "</tr></thead>\n<tbody>\n");
    sp_buf_put_view(&r->body, sp_buf_view(&t->rows));
    sp_buf_put_str(&r->body, "</tbody></table></div>\n");
    sp_report_file(r, t->name, ".csv", &t->csv);
    sp_buf_done(&t->header);
    sp_buf_done(&t->rows);
    sp_buf_done(&t->csv);
    sp_free(t->name);
    sp_free(t->caption);
    sp_free(t);
}
