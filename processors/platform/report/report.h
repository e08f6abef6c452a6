/* A report: a directory with one self-contained page and the data behind it.
 *
 *   DIR/index.html   everything, readable without a network: sections, tables, plots (inline SVG),
 *                    pairs of texts with their differences marked; light and dark
 *   DIR/NAME.csv     the numbers of each table and each plot, unrounded
 *   DIR/NAME.svg     each plot by itself
 *   DIR/NAME.png
 *
 *   sp_report_open
 *     sp_report_section, then any of sp_report_text, _code, _table, _plot, _pair, in reading order
 *   sp_report_close
 *
 * Text may come from a crawl, so it is shown and never run. It is escaped, bytes that are not UTF-8
 * and control characters become U+FFFD, and a policy in the page forbids scripts and every request.
 *
 * Errors: the first failure is kept, later calls do nothing, sp_report_close returns it. Texts are
 * borrowed for the call. Equal calls give equal bytes. Thread rule: one thread at a time. */
#ifndef SP_REPORT_REPORT_H
#define SP_REPORT_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "base/fault.h"

struct sp_report;

/* Creates the directory if it is missing. Files of an earlier report are replaced if this one has a
 * file of that name; others stay. SP_IO or SP_INVALID: the fault says what failed and what to do.
 */
enum sp_err sp_report_open(const char *directory, const char *title, struct sp_report **ret_report,
                           struct sp_fault *fault);
/* Writes index.html, unless there was an error, and frees the report in any case. Returns the first
 * error of the report; the fault is its text. */
enum sp_err sp_report_close(struct sp_report *r, struct sp_fault *fault);

/* Begins a section, which ends at the next one. The page begins with a list of them. */
void sp_report_section(struct sp_report *r, const char *heading);
/* Declares the sample behind the tables and plots from here to the end of the section, or to the
 * next call: `what` it counts ("pages"), how many there are, and how many are enough. If there are
 * fewer, each table and plot is marked as a small sample, with both numbers. */
void sp_report_sample(struct sp_report *r, uint64_t count, uint64_t enough, const char *what);
/* The tables and plots from here on are not about a sample, so none is marked. */
void sp_report_no_sample(struct sp_report *r);
void sp_report_heading(struct sp_report *r, const char *heading); /* inside a section */
void sp_report_text(struct sp_report *r, const char *text);       /* one paragraph */
/* The same, formatted; at most 2,047 bytes. */
void sp_report_textf(struct sp_report *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Shows lines unchanged, in a fixed-width font: commands, settings. */
void sp_report_code(struct sp_report *r, const char *lines);

/* ---- tables ----
 *
 *   struct sp_table *t = sp_table_new("imbalance", "Load imbalance", columns, 3);
 *   sp_table_text(t, "3D"); sp_table_count(t, 64); sp_table_number(t, 1.0812, 2);
 *   sp_report_table(r, t);
 *
 * Cells are given row by row, from left to right. */

struct sp_table;

/* `name` is that of the CSV file: lower-case letters, digits and `-`, used once in a report. Texts
 * are copied. Never NULL. */
struct sp_table *sp_table_new(const char *name, const char *caption, const char *const *columns,
                              size_t column_count);
void sp_table_text(struct sp_table *t, const char *text);
/* The page shows that many decimals, the CSV the exact number. NaN and infinity give an empty
 * cell. */
void sp_table_number(struct sp_table *t, double x, int decimals);
/* A share from 0 to 1: the page shows percent, the CSV has the share. */
void sp_table_percent(struct sp_table *t, double share, int decimals);
/* The page shows the largest of the units s, min, h and days of which there are at least two; the
 * CSV has seconds. */
void sp_table_seconds(struct sp_table *t, double seconds);
void sp_table_count(struct sp_table *t, uint64_t n);
void sp_table_blank(struct sp_table *t);
/* Adds the table to the report and frees it; a last row that is not full is a mistake. */
void sp_report_table(struct sp_report *r, struct sp_table *t);

/* ---- plots ---- */

enum sp_plot_kind { SP_PLOT_LINES, SP_PLOT_BARS };

enum { SP_SERIES_MAX = 12 };

struct sp_series {
    const char *label;
    const double *y; /* x_count of them; NaN: no point there */
    bool printed;    /* values printed in the paper: drawn dashed, with hollow marks */
};

struct sp_plot {
    enum sp_plot_kind kind;
    const char *name; /* of the files, as for a table */
    const char *caption;
    const char *x_label;
    const char *y_label;
    const double *x;            /* ascending; NULL for bars with names */
    const char *const *x_names; /* names of the bars; NULL: the numbers in `x` */
    size_t x_count;
    bool x_log; /* logarithmic axes; values that are not above 0 are left out */
    bool y_log;
    bool y_from_zero; /* otherwise the axis begins near the smallest value */
    const struct sp_series *series;
    size_t series_count; /* at most SP_SERIES_MAX */
};

/* Draws the plot, adds it to the report, and writes its SVG, PNG and CSV. */
void sp_report_plot(struct sp_report *r, const struct sp_plot *plot);

/* ---- pairs of texts ---- */

struct sp_pair {
    const char *title_a; /* URLs, for instance */
    const char *title_b;
    struct sp_view a;
    struct sp_view b;
    const char *verdict; /* one line, above the texts */
    bool good;           /* whether the verdict is right; sets its colour */
};

/* Shows two texts side by side and marks the words that only one of them has (Myers 1986, over
 * words). Of a text of more than 4,000 words only the beginning is shown, with a note. */
void sp_report_pair(struct sp_report *r, const struct sp_pair *pair);

#endif
