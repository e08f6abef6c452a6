/* The progress bar: one line on standard error, redrawn a few times a second. The clock affects
 * nothing else. */
#include "cli/progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"

static const double interval_seconds = 0.2;

struct sp_thousands sp_thousands(uint64_t n)
{
    struct sp_thousands t;
    char backwards[sizeof t.text];
    size_t len = 0;
    for (int digit = 0; digit == 0 || n > 0; digit++, n /= 10) {
        if (digit > 0 && digit % 3 == 0)
            backwards[len++] = ',';
        backwards[len++] = (char)('0' + n % 10);
    }
    for (size_t i = 0; i < len; i++)
        t.text[i] = backwards[len - 1 - i];
    t.text[len] = 0;
    return t;
}

void sp_progress_start(struct sp_progress *p, const char *counted)
{
    *p = (struct sp_progress){.shown = isatty(STDERR_FILENO),
                              .start = sp_clock_seconds(),
                              .unit = "pages",
                              .counted = counted};
    p->last = p->start;
}

static void draw_bar(uint64_t bytes, uint64_t total, double elapsed)
{
    enum { WIDTH = 24 };
    double share = total ? (double)bytes / (double)total : 0;
    share = share > 1 ? 1 : share;
    int full = (int)(share * WIDTH);
    unsigned left = share > 0 ? (unsigned)(elapsed / share - elapsed) : 0;
    fprintf(stderr, "[%.*s%*s] %3.0f%%  %u:%02u left", full, "########################",
            WIDTH - full, "", share * 100, left / 60, left % 60);
}

void sp_progress_show(void *arg, uint64_t units, uint64_t bytes, uint64_t bytes_total,
                      uint64_t count)
{
    struct sp_progress *p = arg;
    double t = sp_clock_seconds(), elapsed = t - p->start;
    if (!p->shown || t - p->last < interval_seconds)
        return;
    p->last = t;
    p->drawn = true;
    fputs("\r\033[K", stderr);
    if (bytes_total)
        draw_bar(bytes, bytes_total, elapsed);
    fprintf(stderr, "  %s %s  %s %s/s  %.0f MB/s", sp_thousands(units).text, p->unit,
            sp_thousands((uint64_t)((double)units / elapsed)).text, p->unit,
            1e-6 * (double)bytes / elapsed);
    if (p->counted)
        fprintf(stderr, "  %s %s", sp_thousands(count).text, p->counted);
    fflush(stderr);
}

void sp_progress_count(struct sp_progress *p, const char *phase, uint64_t count, const char *what)
{
    double t = sp_clock_seconds();
    if (!p->shown || t - p->last < interval_seconds)
        return;
    p->last = t;
    p->drawn = true;
    fprintf(stderr, "\r\033[K%-10s%s %s", phase, sp_thousands(count).text, what);
    fflush(stderr);
}

void sp_progress_phase(struct sp_progress *p, const char *phase, uint64_t done, uint64_t total)
{
    double t = sp_clock_seconds();
    if (p->phase != phase) {
        p->phase = phase;
        p->start = t;
        p->last = 0;
    }
    if (!p->shown || t - p->last < interval_seconds)
        return;
    p->last = t;
    p->drawn = true;
    fprintf(stderr, "\r\033[K%-10s", phase);
    if (total)
        draw_bar(done, total, t - p->start);
    else
        fprintf(stderr, "%.0f MB", 1e-6 * (double)done);
    fflush(stderr);
}

void sp_progress_end(struct sp_progress *p)
{
    if (p->drawn)
        fputs("\r\033[K", stderr);
    p->drawn = false;
}
