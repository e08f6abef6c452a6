/* A report is a complete page, whatever its content. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "harness.h"
#include "report/axis.h"
#include "report/internal.h"

static char directory[64];

static struct sp_report *open_report(const char *title)
{
    struct sp_report *r = NULL;
    struct sp_fault fault = {""};
    snprintf(directory, sizeof directory, "/tmp/samepage-report-XXXXXX");
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(directory));
    CU_ASSERT_EQUAL_FATAL(sp_report_open(directory, title, &r, &fault), SP_OK);
    return r;
}

static struct sp_buf read_file(const char *name)
{
    struct sp_buf out = {0};
    char path[128];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *file = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    size_t n;
    while ((n = fread(sp_buf_reserve(&out, 65536), 1, 65536, file)) > 0)
        out.len += n;
    fclose(file);
    unlink(path);
    sp_buf_put_u8(&out, 0);
    out.len--;
    return out;
}

static void remove_directory(void)
{
    CU_ASSERT_EQUAL(rmdir(directory), 0); /* removable, so no other file was written */
}

static struct sp_buf close_report(struct sp_report *r)
{
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL_FATAL(sp_report_close(r, &fault), SP_OK);
    return read_file("index.html");
}

static size_t count_of(const struct sp_buf *text, const char *part)
{
    size_t n = 0;
    for (const char *at = text->data; (at = strstr(at, part)); at += strlen(part))
        n++;
    return n;
}

/* Every open tag is closed, in order. */
static bool well_formed(const char *page)
{
    static const char *const empty[] = {"!doctype", "meta", "link"};
    char stack[64][16], name[16];
    int depth = 0;
    for (const char *at = page; (at = strchr(at, '<')); at++) {
        bool closes = at[1] == '/';
        size_t n = strcspn(at + 1 + closes, " \n>/");
        if (n == 0 || n >= sizeof name)
            continue;
        memcpy(name, at + 1 + closes, n);
        name[n] = 0;
        const char *end = strchr(at, '>');
        bool single = !end || end[-1] == '/';
        for (size_t i = 0; i < sizeof empty / sizeof *empty; i++)
            single |= strcmp(name, empty[i]) == 0;
        if (single)
            continue;
        if (closes && (depth == 0 || strcmp(stack[--depth], name) != 0))
            return false;
        if (!closes && depth < 64)
            memcpy(stack[depth++], name, sizeof name);
    }
    return depth == 0;
}

static const char *const hostile = "<script>alert(1)</script>\"'&\x01\xff";

TEST(a_report_is_a_well_formed_page_with_its_sections)
{
    struct sp_report *r = open_report("All of it");
    sp_report_section(r, "First");
    sp_report_heading(r, "Inside");
    sp_report_textf(r, "%d pages & more", 12);
    sp_report_section(r, "Second");
    sp_report_code(r, "samepage evaluate\n  --report x");
    struct sp_buf page = close_report(r);
    CU_ASSERT(well_formed(page.data));
    CU_ASSERT_EQUAL(count_of(&page, "<section id="), 2);
    CU_ASSERT_EQUAL(count_of(&page, "<a href=\"#s2\">Second</a>"), 1);
    CU_ASSERT_EQUAL(count_of(&page, "<p>12 pages &amp; more</p>"), 1);
    CU_ASSERT_EQUAL(count_of(&page, "prefers-color-scheme:dark"), 1);
    CU_ASSERT_EQUAL(count_of(&page, "<title>All of it</title>"), 1);
    sp_buf_done(&page);
    remove_directory();
}

TEST(hostile_text_is_shown_and_never_run)
{
    static const char *const columns[] = {"<b>url</b>"};
    const double x[] = {1, 2}, y[] = {1, 2};
    struct sp_series series = {hostile, y, false};
    struct sp_plot plot = {.kind = SP_PLOT_LINES,
                           .name = "p",
                           .caption = hostile,
                           .x_label = hostile,
                           .y_label = hostile,
                           .x = x,
                           .x_count = 2,
                           .series = &series,
                           .series_count = 1};
    struct sp_pair pair = {hostile,          hostile, sp_view_str(hostile),
                           sp_view_str("x"), hostile, false};
    struct sp_report *r = open_report(hostile);
    struct sp_table *t = sp_table_new("t", hostile, columns, 1);
    sp_table_text(t, hostile);
    sp_report_section(r, hostile);
    sp_report_text(r, hostile);
    sp_report_table(r, t);
    sp_report_plot(r, &plot);
    sp_report_pair(r, &pair);
    struct sp_buf page = close_report(r);
    CU_ASSERT(well_formed(page.data));
    CU_ASSERT_EQUAL(count_of(&page, "<script"), 0);
    CU_ASSERT_EQUAL(count_of(&page, "\x01"), 0);
    CU_ASSERT(
        count_of(&page, "&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;&amp;\uFFFD\uFFFD") >= 9);
    sp_buf_done(&page);
    const char *files[] = {"t.csv", "p.csv", "p.svg", "p.png"};
    for (size_t i = 0; i < 4; i++) {
        struct sp_buf file = read_file(files[i]);
        CU_ASSERT(file.len > 0);
        sp_buf_done(&file);
    }
    remove_directory();
}

TEST(tables_round_for_people_and_keep_everything_in_the_csv)
{
    static const char *const columns[] = {"map", "machines", "imbalance", "share"};
    struct sp_report *r = open_report("tables");
    struct sp_table *t = sp_table_new("numbers", "Numbers", columns, 4);
    sp_table_text(t, "grid, \"3D\"");
    sp_table_count(t, 1234567);
    sp_table_number(t, 1.08125, 2);
    sp_table_percent(t, 0.901, 1);
    sp_table_text(t, "=cmd()");
    sp_table_blank(t);
    sp_table_number(t, NAN, 2);
    sp_table_number(t, INFINITY, 2);
    sp_report_table(r, t);
    struct sp_buf page = close_report(r), csv = read_file("numbers.csv");
    CU_ASSERT_STRING_EQUAL(csv.data, "map,machines,imbalance,share\r\n"
                                     "\"grid, \"\"3D\"\"\",1234567,1.08125,0.901\r\n"
                                     "'=cmd(),,,\r\n");
    CU_ASSERT_EQUAL(count_of(&page, "<td class=\"n\">1.08</td>"), 1);
    CU_ASSERT_EQUAL(count_of(&page, "<td class=\"n\">90.1 %</td>"), 1);
    CU_ASSERT_EQUAL(count_of(&page, ">1,234,567<"), 1);
    sp_buf_done(&page);
    sp_buf_done(&csv);
    remove_directory();
}

TEST(a_time_is_shown_in_the_unit_in_which_it_is_easily_read)
{
    static const struct {
        double seconds;
        const char *shown;
    } times[] = {{0.031, "0.03 s"}, {9.94, "9.9 s"},      {119, "119 s"},
                 {120, "2.0 min"},  {7199, "120 min"},    {7200, "2.0 h"},
                 {100800, "28 h"},  {1814400, "21 days"}, {172800, "2.0 days"}};
    enum { COUNT = sizeof times / sizeof *times };
    static const char *const columns[] = {"time"};
    struct sp_report *r = open_report("times");
    struct sp_table *t = sp_table_new("times", "Times", columns, 1);
    for (size_t i = 0; i < COUNT; i++)
        sp_table_seconds(t, times[i].seconds);
    sp_report_table(r, t);
    struct sp_buf page = close_report(r), csv = read_file("times.csv");
    for (size_t i = 0; i < COUNT; i++) {
        char cell[48];
        snprintf(cell, sizeof cell, "<td class=\"n\">%s</td>", times[i].shown);
        CU_ASSERT_EQUAL(count_of(&page, cell), 1);
    }
    CU_ASSERT_STRING_EQUAL(csv.data, "time\r\n0.031\r\n9.94\r\n119\r\n1.2e+02\r\n7199\r\n"
                                     "7.2e+03\r\n1.008e+05\r\n1.8144e+06\r\n1.728e+05\r\n");
    sp_buf_done(&page);
    sp_buf_done(&csv);
    remove_directory();
}

static void check_plot(const struct sp_plot *plot)
{
    struct sp_report *r = open_report("plots");
    sp_report_plot(r, plot);
    sp_report_plot(r, plot); /* the second plot must not repeat ids of the first */
    struct sp_buf page = close_report(r), csv = read_file("figure-4.csv"),
                  svg = read_file("figure-4.svg"), png = read_file("figure-4.png");
    CU_ASSERT(well_formed(page.data));
    CU_ASSERT_EQUAL(count_of(&page, "<svg "), 2);
    CU_ASSERT_EQUAL(count_of(&page, "id=\"glyph"), 0);
    CU_ASSERT(count_of(&page, "id=\"p1-") > 0 && count_of(&page, "id=\"p2-") > 0);
    CU_ASSERT(count_of(&page, "currentColor") > 10);
    CU_ASSERT_EQUAL(count_of(&page, "http://"), count_of(&page, "http://www.w3.org/"));
    CU_ASSERT(strstr(svg.data, "<svg ") && strstr(svg.data, "</svg>"));
    CU_ASSERT(png.len > 1000 && memcmp(png.data, "\x89PNG", 4) == 0);
    CU_ASSERT(csv.len > 0);
    sp_buf_done(&page);
    sp_buf_done(&csv);
    sp_buf_done(&svg);
    sp_buf_done(&png);
    remove_directory();
}

TEST(a_plot_is_in_the_page_and_lies_beside_it_as_svg_and_png)
{
    const double x[] = {2, 4, 8, 16, 32, 64}, one[] = {1.1, 1.2, 2, 3, NAN, 10.7},
                 three[] = {1, 1.02, 1.03, 1.03, 1.05, 1.08}, none[] = {NAN, NAN, NAN, NAN, NAN, 0};
    struct sp_series series[] = {{"1D", one, false}, {"3D", three, false}, {"paper", none, true}};
    struct sp_plot plot = {.kind = SP_PLOT_LINES,
                           .name = "figure-4",
                           .caption = "Load imbalance",
                           .x_label = "machines",
                           .y_label = "max / mean",
                           .x = x,
                           .x_count = 6,
                           .x_log = true,
                           .y_log = true,
                           .series = series,
                           .series_count = 3};
    check_plot(&plot);
    plot.y_log = plot.x_log = false;
    check_plot(&plot);
    plot.kind = SP_PLOT_BARS;
    check_plot(&plot);
    const char *const names[] = {"a", "b", "", "c", "d", "e"};
    plot.x_names = names;
    plot.x = NULL;
    plot.y_log = true;
    check_plot(&plot);
}

TEST(plots_without_points_and_with_equal_ones_are_drawn_too)
{
    const double x[] = {5, 5}, y[] = {3, 3}, nan[] = {NAN, NAN};
    struct sp_series series[] = {{"", y, false}, {"none", nan, false}};
    struct sp_plot plot = {.kind = SP_PLOT_LINES,
                           .name = "figure-4",
                           .caption = "",
                           .x_label = "x",
                           .y_label = "y",
                           .x = x,
                           .x_count = 2,
                           .series = series,
                           .series_count = 2};
    check_plot(&plot);
    plot.series = &series[1];
    plot.series_count = 1;
    check_plot(&plot);
    plot.x_count = 0;
    check_plot(&plot);
    plot.x_log = plot.y_log = true;
    check_plot(&plot);
}

TEST(ticks_are_round_numbers_that_enclose_the_values)
{
    struct sp_axis a;
    char text[32];
    sp_axis_init(&a, 0.13, 0.87, false);
    CU_ASSERT(a.lo <= 0.13 && a.hi >= 0.87 && a.tick_count >= 4 && a.tick_count <= 10);
    sp_axis_label(&a, a.ticks[1], text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "0.2");
    sp_axis_init(&a, 0, 43210, false);
    sp_axis_label(&a, 20000, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "20,000");
    sp_axis_init(&a, 0.002, 900, true);
    CU_ASSERT_DOUBLE_EQUAL(a.lo, 0.001, 1e-12);
    CU_ASSERT_DOUBLE_EQUAL(a.hi, 1000, 1e-9);
    sp_axis_label(&a, 0.01, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "0.01");
    const double machines[] = {2, 4, 8, 64};
    sp_axis_init_values(&a, machines, 4, true);
    a.from = 0;
    a.to = 5;
    CU_ASSERT_EQUAL(a.tick_count, 4);
    CU_ASSERT_DOUBLE_EQUAL(sp_axis_place(&a, 4), 1, 1e-9);
}

static void check_ticks(double lo, double hi, bool log, const char *const *wanted)
{
    struct sp_axis a;
    char text[64];
    size_t n = 0;
    sp_axis_init(&a, lo, hi, log);
    for (; wanted[n]; n++) {
        CU_ASSERT_FATAL(n < a.tick_count);
        sp_axis_label(&a, a.ticks[n], text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, wanted[n]);
    }
    CU_ASSERT_EQUAL(n, a.tick_count);
}

TEST(all_ticks_of_an_axis_are_written_alike)
{
    check_ticks(512, 4096, true, (const char *const[]){"512", "1,024", "2,048", "4,096", NULL});
    check_ticks(1, 10000, true, (const char *const[]){"1", "10", "100", "1,000", "10,000", NULL});
    check_ticks(1e5, 1e10, true,
                (const char *const[]){"100k", "1M", "10M", "100M", "1G", "10G", NULL});
    check_ticks(0, 2e6, false, (const char *const[]){"0", "500k", "1M", "1.5M", "2M", NULL});
    check_ticks(1e-6, 1e-1, true,
                (const char *const[]){"10⁻⁶", "10⁻⁵", "10⁻⁴", "10⁻³", "10⁻²", "10⁻¹", NULL});
    check_ticks(0, 1e-4, false,
                (const char *const[]){"0", "2·10⁻⁵", "4·10⁻⁵", "6·10⁻⁵", "8·10⁻⁵", "10⁻⁴", NULL});
    /* More digits if three do not distinguish the ticks. */
    check_ticks(1000000, 1004000, false,
                (const char *const[]){"1M", "1.001M", "1.002M", "1.003M", "1.004M", NULL});
}

/* The number of letters drawn; checks that each is inside the drawing. */
static size_t letters_inside(const struct sp_buf *svg)
{
    double width = 0, height = 0, x, y;
    size_t count = 0;
    const char *box = strstr(svg->data, "viewBox=");
    CU_ASSERT_FATAL(box && sscanf(box, "viewBox=\"0 0 %lf %lf\"", &width, &height) == 2);
    for (const char *at = svg->data; (at = strstr(at, "<use ")); at++, count++) {
        CU_ASSERT_FATAL(sscanf(at, "<use xlink:href=\"#%*[^\"]\" x=\"%lf\" y=\"%lf\"", &x, &y) ==
                        2);
        CU_ASSERT(x >= 2 && x <= width - 10 && y >= 10 && y <= height - 2);
    }
    return count;
}

static struct sp_buf drawn(const struct sp_plot *plot, uint64_t sample)
{
    struct sp_report *r = open_report("drawn");
    sp_report_section(r, "s");
    sp_report_sample(r, sample, 1000, "pages");
    sp_report_plot(r, plot);
    struct sp_buf page = close_report(r), svg = read_file("p.svg");
    sp_buf_done(&page);
    for (size_t i = 0; i < 2; i++) {
        struct sp_buf file = read_file(i ? "p.csv" : "p.png");
        sp_buf_done(&file);
    }
    remove_directory();
    return svg;
}

TEST(labels_are_whole_however_long_they_are)
{
    static const char words[] =
        "a label with a good many words that no line of a plot is wide enough for, and "
        "that is not to lose a single letter of them all, wherever it stands";
    static const char name[] =
        "one-word-that-is-longer-than-any-line-of-the-legend-and-has-no-place-to-break";
    const double x[] = {1, 2e9}, y[] = {1e-7, 5}, log_x[] = {1, 5};
    struct sp_series few[12], many[12];
    for (size_t i = 0; i < 12; i++) {
        few[i] = (struct sp_series){"s", i % 2 ? y : log_x, i == 4};
        many[i] = (struct sp_series){i % 2 ? words : name, i % 2 ? y : log_x, i == 4};
    }
    struct sp_plot plot = {.kind = SP_PLOT_LINES,
                           .name = "p",
                           .caption = "c",
                           .x_label = "x",
                           .y_label = "y",
                           .x = x,
                           .x_count = 2,
                           .y_log = true,
                           .series = few,
                           .series_count = 12};
    struct sp_buf svg = drawn(&plot, 1000);
    size_t before = letters_inside(&svg);
    sp_buf_done(&svg);
    plot.series = many;
    plot.x_label = plot.y_label = words;
    svg = drawn(&plot, 1000);
    size_t after = letters_inside(&svg), breaks = 60; /* spaces at line ends are not drawn */
    size_t more = 8 * (sizeof words - 2) + 6 * (sizeof name - 2);
    CU_ASSERT(after - before <= more && after - before >= more - breaks);
    sp_buf_done(&svg);
}

TEST(a_curve_behind_another_is_wider)
{
    const double x[] = {1, 2, 3, 4}, y[] = {1, 2, 3, 4}, other[] = {4, 3.4, 2, 4};
    struct sp_series series[] = {{"below", y, false}, {"on it", y, false}, {"third", y, false}};
    struct sp_plot plot = {.kind = SP_PLOT_LINES,
                           .name = "p",
                           .caption = "c",
                           .x_label = "x",
                           .y_label = "y",
                           .x = x,
                           .x_count = 4,
                           .series = series,
                           .series_count = 3};
    struct sp_buf svg = drawn(&plot, 1000);
    CU_ASSERT_EQUAL(count_of(&svg, "stroke-width:6.2"), 1);
    CU_ASSERT_EQUAL(count_of(&svg, "stroke-width:4;"), 1);
    CU_ASSERT_EQUAL(count_of(&svg, "stroke-width:1.8"), 1 + 3); /* and in the legend */
    sp_buf_done(&svg);
    series[1].y = other; /* equals the first curve at its ends only */
    plot.series_count = 2;
    svg = drawn(&plot, 1000);
    CU_ASSERT_EQUAL(count_of(&svg, "stroke-width:4;"), 0);
    CU_ASSERT_EQUAL(count_of(&svg, "stroke-width:1.8"), 2 + 2);
    sp_buf_done(&svg);
}

TEST(a_small_sample_is_marked_with_its_size)
{
    static const char *const columns[] = {"a"};
    static const char mark[] = "<span class=\"few\">small sample: 1,999 pages, below 2,000</span>";
    const double x[] = {1, 2, 3};
    struct sp_series series = {"s", x, false};
    struct sp_plot plot = {.kind = SP_PLOT_LINES,
                           .name = "p",
                           .caption = "c",
                           .x_label = "x",
                           .y_label = "y",
                           .x = x,
                           .x_count = 3,
                           .series = &series,
                           .series_count = 1};
    const uint64_t samples[] = {1999, 2000};
    for (size_t i = 0; i < 2; i++) {
        struct sp_report *r = open_report("samples");
        sp_report_section(r, "first");
        sp_report_sample(r, samples[i], 2000, "pages");
        sp_report_table(r, sp_table_new("t", "", columns, 1));
        sp_report_plot(r, &plot);
        sp_report_section(r, "second, of which nothing is said");
        sp_report_table(r, sp_table_new("t", "", columns, 1));
        struct sp_buf page = close_report(r), svg = read_file("p.svg");
        CU_ASSERT_EQUAL(count_of(&page, mark), i == 0 ? 2 : 0);
        CU_ASSERT_EQUAL(count_of(&page, "small sample"), i == 0 ? 2 : 0);
        sp_buf_done(&page);
        sp_buf_done(&svg);
        static const char *const files[] = {"p.csv", "p.png", "t.csv"};
        for (size_t k = 0; k < 3; k++) {
            struct sp_buf file = read_file(files[k]);
            sp_buf_done(&file);
        }
        remove_directory();
    }
    /* The plot's own files contain it, too. */
    struct sp_buf large = drawn(&plot, 1000), small = drawn(&plot, 999);
    CU_ASSERT_EQUAL(letters_inside(&small) - letters_inside(&large),
                    strlen("small sample: 999 pages, below 1,000"));
    sp_buf_done(&large);
    sp_buf_done(&small);
}

TEST(a_directory_that_cannot_be_made_is_said)
{
    struct sp_report *r = NULL;
    struct sp_fault fault = {""};
    CU_ASSERT_EQUAL(sp_report_open("/proc/none/report", "x", &r, &fault), SP_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "/proc/none/report"));
    CU_ASSERT_EQUAL(sp_report_open("/dev/null", "x", &r, &fault), SP_INVALID);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "not a directory"));
}

TEST(what_cannot_be_written_fails_the_report)
{
    struct sp_fault fault = {""};
    struct sp_report *r = open_report("gone");
    remove_directory();
    static const char *const columns[] = {"a"};
    sp_report_table(r, sp_table_new("t", "", columns, 1));
    CU_ASSERT_EQUAL(sp_report_close(r, &fault), SP_IO);
    CU_ASSERT_PTR_NOT_NULL(strstr(fault.text, "/t: cannot be written"));
}

TEST(equal_calls_give_equal_bytes)
{
    struct sp_buf pages[2];
    for (int i = 0; i < 2; i++) {
        const double x[] = {1, 2, 3};
        struct sp_series series = {"s", x, false};
        struct sp_plot plot = {.kind = SP_PLOT_LINES,
                               .name = "p",
                               .caption = "c",
                               .x_label = "x",
                               .y_label = "y",
                               .x = x,
                               .x_count = 3,
                               .series = &series,
                               .series_count = 1};
        struct sp_report *r = open_report("same");
        sp_report_plot(r, &plot);
        pages[i] = close_report(r);
        const char *files[] = {"p.csv", "p.svg", "p.png"};
        for (size_t k = 0; k < 3; k++) {
            struct sp_buf file = read_file(files[k]);
            sp_buf_done(&file);
        }
        remove_directory();
    }
    CU_ASSERT(sp_view_eq(sp_buf_view(&pages[0]), sp_buf_view(&pages[1])));
    sp_buf_done(&pages[0]);
    sp_buf_done(&pages[1]);
}
