/* The page itself: see report.h. The body is collected in memory and written at the end, first
 * under another name, so that an index.html is always complete. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/assert.h"
#include "base/mem.h"
#include "report/internal.h"

static const char head[] =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; img-src data:\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<link rel=\"icon\" href=\"data:,\">\n";

static const char style[] =
    "<style>\n"
    ":root{color-scheme:light dark;--ink:#1b1f24;--paper:#fff;--soft:#5b6470;--line:#d5dae0;"
    "--panel:#f5f7f9;--link:#0a58ca;--only-a:#ffd8d3;--only-b:#cdf0d3;--good:#1a7f37;--bad:#b3261e}\n"
    "@media (prefers-color-scheme:dark){:root{--ink:#e3e7ec;--paper:#14181d;--soft:#98a3b0;"
    "--line:#343c46;--panel:#1d232a;--link:#7ab3ff;--only-a:#6b2a25;--only-b:#1f5130;"
    "--good:#5fd07a;--bad:#ff8a80}}\n"
    "body{margin:0 auto;max-width:64rem;padding:1.5rem;background:var(--paper);color:var(--ink);"
    "font:16px/1.55 system-ui,sans-serif}\n"
    "h1{font-size:1.7rem;line-height:1.2}h2{margin-top:3rem;border-bottom:1px solid var(--line)}\n"
    "p,li,h1,h2,h3{overflow-wrap:anywhere}:focus-visible{outline:3px solid var(--link)}\n"
    "a{color:var(--link)}nav ul{padding-left:1.2rem;columns:17rem;column-gap:2rem}"
    "nav li{break-inside:avoid}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.92rem}\n"
    ".wide{overflow-x:auto;margin:1rem 0}\n"
    "caption,figcaption{text-align:left;color:var(--soft);padding:.3rem 0}\n"
    "th,td{padding:.25rem .7rem;border-bottom:1px solid var(--line);text-align:left;"
    "vertical-align:top;unicode-bidi:isolate;overflow-wrap:anywhere}\n"
    "td:first-child{min-width:7rem}\n"
    "th{white-space:nowrap}td.n,th.n{text-align:right;white-space:nowrap}\n"
    "pre{background:var(--panel);padding:.7rem;overflow-x:auto;font-size:.85rem}\n"
    "figure{margin:1.2rem 0}figure svg{max-width:100%;min-width:34rem;height:auto;color:var(--ink)}"
    "\n"
    ".few{color:var(--ink);border:1px solid var(--soft);border-radius:.3rem;padding:0 .4rem}\n"
    ".pair{display:grid;grid-template-columns:1fr 1fr;gap:1rem;margin:.5rem 0 1.5rem}\n"
    ".pair>div{background:var(--panel);padding:.6rem;max-height:24rem;overflow:auto;"
    "font-size:.85rem;overflow-wrap:anywhere;white-space:pre-wrap;unicode-bidi:isolate}\n"
    ".pair b{display:block;unicode-bidi:isolate}\n"
    "del,ins{text-decoration:none}del{background:var(--only-a)}ins{background:var(--only-b)}\n"
    ".good{color:var(--good)}.bad{color:var(--bad)}\n"
    "@media (max-width:40rem){.pair{grid-template-columns:1fr}}\n"
    "</style>\n";

enum sp_err sp_report_open(const char *directory, const char *title, struct sp_report **ret_report,
                           struct sp_fault *fault)
{
    struct stat st;
    if (mkdir(directory, 0777) != 0 && (errno != EEXIST || stat(directory, &st) != 0))
        return sp_fault_set(fault, SP_IO, "%s: the directory cannot be created: %s", directory,
                            strerror(errno));
    if (stat(directory, &st) != 0 || !S_ISDIR(st.st_mode))
        return sp_fault_set(fault, SP_INVALID, "%s: is not a directory; a report is one",
                            directory);
    struct sp_report *r = sp_calloc(1, sizeof *r);
    r->directory = sp_strdup(directory);
    r->title = sp_strdup(title);
    *ret_report = r;
    return SP_OK;
}

static void end_section(struct sp_report *r)
{
    if (r->section_open)
        sp_buf_put_str(&r->body, "</section>\n");
    r->section_open = false;
}

static void put_page(const struct sp_report *r, struct sp_buf *out)
{
    sp_buf_put_str(out, head);
    sp_buf_put_str(out, "<title>");
    sp_html_put_str(out, r->title);
    sp_buf_put_str(out, "</title>\n");
    sp_buf_put_str(out, style);
    sp_buf_put_str(out, "</head>\n<body>\n<header><h1>");
    sp_html_put_str(out, r->title);
    sp_buf_put_str(out, "</h1></header>\n<nav><ul>\n");
    sp_buf_put_view(out, sp_buf_view(&r->contents));
    sp_buf_put_str(out, "</ul></nav>\n<main>\n");
    sp_buf_put_view(out, sp_buf_view(&r->body));
    sp_buf_put_str(out, "</main>\n</body>\n</html>\n");
}

enum sp_err sp_report_close(struct sp_report *r, struct sp_fault *fault)
{
    struct sp_buf page = {0};
    end_section(r);
    put_page(r, &page);
    sp_report_file(r, "index.html", ".unfinished", &page);
    sp_report_file_finish(r, "index.html", ".unfinished");
    enum sp_err err = r->err;
    if (err != SP_OK)
        *fault = r->fault;
    if (r->plots)
        sp_plots_done();
    sp_buf_done(&page);
    sp_buf_done(&r->contents);
    sp_buf_done(&r->body);
    sp_free(r->directory);
    sp_free(r->title);
    sp_free(r);
    return err;
}

static void put_element(struct sp_buf *out, const char *name, const char *text)
{
    sp_html_putf(out, "<%s>", name);
    sp_html_put_str(out, text);
    sp_html_putf(out, "</%s>\n", name);
}

void sp_report_section(struct sp_report *r, const char *heading)
{
    end_section(r);
    r->note[0] = 0;
    unsigned n = ++r->sections;
    sp_html_putf(&r->contents, "<li><a href=\"#s%u\">", n);
    sp_html_put_str(&r->contents, heading);
    sp_buf_put_str(&r->contents, "</a></li>\n");
    sp_html_putf(&r->body, "<section id=\"s%u\">\n", n);
    put_element(&r->body, "h2", heading);
    r->section_open = true;
}

void sp_report_heading(struct sp_report *r, const char *heading)
{
    put_element(&r->body, "h3", heading);
}

void sp_report_text(struct sp_report *r, const char *text)
{
    put_element(&r->body, "p", text);
}

void sp_report_textf(struct sp_report *r, const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sp_report_text(r, text);
}

void sp_report_code(struct sp_report *r, const char *lines)
{
    sp_buf_put_str(&r->body, "<pre tabindex=\"0\">"); /* it may scroll horizontally */
    sp_html_put_str(&r->body, lines);
    sp_buf_put_str(&r->body, "</pre>\n");
}
