/* What the parts of the report share. Private to this folder and its tests. */
#ifndef SP_REPORT_INTERNAL_H
#define SP_REPORT_INTERNAL_H

#include "report/report.h"

struct sp_report {
    char *directory;
    char *title;
    struct sp_buf contents; /* the list of sections, HTML */
    struct sp_buf body;     /* HTML */
    unsigned sections;
    unsigned plots;
    bool section_open;
    char note[160];  /* about the sample, of tables and plots from here on; "": none */
    enum sp_err err; /* the first */
    struct sp_fault fault;
};

/* Appends text, escaped for HTML's text and quoted attributes. */
void sp_html_put(struct sp_buf *out, struct sp_view text);
void sp_html_put_str(struct sp_buf *out, const char *text);
void sp_html_putf(struct sp_buf *out, const char *format, ...)
    __attribute__((format(printf, 2, 3))); /* not escaped */
/* Appends text with what is not UTF-8 or not printable replaced; newlines and tabs stay. */
void sp_clean_put(struct sp_buf *out, struct sp_view text);

/* Appends one cell of CSV (RFC 4180). A text that a spreadsheet would run as a formula gets an
 * apostrophe before it. */
void sp_csv_put(struct sp_buf *out, struct sp_view cell);
/* The shortest decimal that reads back; nothing where x is not finite. */
void sp_csv_put_number(struct sp_buf *out, double x);

/* Writes DIR/NAME + SUFFIX. */
void sp_report_file(struct sp_report *r, const char *name, const char *suffix,
                    const struct sp_buf *content);
/* Gives the file its name without the suffix. */
void sp_report_file_finish(struct sp_report *r, const char *name, const char *suffix);
/* Keeps the failure to draw a plot, if it is the first. */
void sp_report_fail(struct sp_report *r, enum sp_err err, const char *plot);
void sp_report_check_name(const char *name);
/* Begins an element that scrolls to the side, by the keyboard, too; it ends with </div>. */
void sp_report_begin_wide(struct sp_report *r, const char *caption);
/* The note about the sample, where there is one. */
void sp_report_put_note(struct sp_report *r);

/* ---- plot drawing ---- */

/* Takes out the number that cairo gives each surface of a process, from that byte on. */
void sp_svg_unnumber(struct sp_buf *svg, size_t from);
/* Frees what the libraries keep from plot to plot. */
void sp_plots_done(void);
/* An SVG file as an element of a page: ids of its own, the page's text colour in place of black. */
void sp_svg_inline(struct sp_view svg, unsigned number, struct sp_buf *out);

/* ---- differences ---- */

/* Which words are only in one of two sequences; marks have room for the counts. Sequences that
 * differ in more than `most` words: everything between the common ends is marked. */
void sp_diff_words(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                   size_t most, bool *ret_a, bool *ret_b);

#endif
