/* Writes a worker's log. */
#include <stdarg.h>
#include <stdio.h>

#include "kafka/internal.h"

void sp_worker_say(struct sp_worker *w, const char *level, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    w->options->log(level, text);
}
