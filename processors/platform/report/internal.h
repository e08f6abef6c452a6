/* Shared by the parts of a report. Private to this folder and its tests. */
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
/* Appends text; bytes that are not UTF-8 and control characters other than newline and tab become
 * U+FFFD. */
void sp_clean_put(struct sp_buf *out, struct sp_view text);

/* Appends one cell of CSV (RFC 4180). A text that a spreadsheet would run as a formula gets an
 * apostrophe before it. */
void sp_csv_put(struct sp_buf *out, struct sp_view cell);
/* Appends the shortest decimal that reads back as x; nothing if x is infinite or NaN. */
void sp_csv_put_number(struct sp_buf *out, double x);

/* Writes the file DIR/NAME SUFFIX; a failure is kept in the report. */
void sp_report_file(struct sp_report *r, const char *name, const char *suffix,
                    const struct sp_buf *content);
/* Renames that file to DIR/NAME, so that a file of this name is always complete. */
void sp_report_file_finish(struct sp_report *r, const char *name, const char *suffix);
/* Keeps the failure to draw a plot, unless there is an earlier failure. */
void sp_report_fail(struct sp_report *r, enum sp_err err, const char *plot);
/* Asserts that it is a name for files: lower-case letters, digits and `-`. */
void sp_report_check_name(const char *name);
/* Begins an element that scrolls horizontally, also with the keyboard. The caller ends it with
 * </div>. */
void sp_report_begin_wide(struct sp_report *r, const char *caption);
/* Appends the note about a small sample, if there is one. */
void sp_report_put_note(struct sp_report *r);

/* ---- plot drawing ---- */

/* Removes from svg->data[from …] the number that cairo gives to each surface of a process, so that
 * equal plots are equal bytes. */
void sp_svg_unnumber(struct sp_buf *svg, size_t from);
/* Frees what the drawing libraries keep from plot to plot. */
void sp_plots_done(void);
/* Appends an SVG file as an element of a page: its ids get the prefix of plot `number`, and black
 * becomes the page's text colour. */
void sp_svg_inline(struct sp_view svg, unsigned number, struct sp_buf *out);

/* ---- differences ---- */

/* Marks the words (given as hashes) that only one of two sequences has, by Myers, "An O(ND)
 * Difference Algorithm and Its Variations", 1986. ret_a and ret_b have room for the counts. If the
 * sequences differ in more than `most` words, everything between their common beginning and their
 * common end is marked. O(most^2) memory. */
void sp_diff_words(const uint64_t *a, size_t a_count, const uint64_t *b, size_t b_count,
                   size_t most, bool *ret_a, bool *ret_b);

#endif
