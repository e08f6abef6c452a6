/* Why a call failed, as a text for people, in memory of the caller:
 *
 *     struct sp_fault fault;
 *     if (sp_config_load(&config, file, &fault) != SP_OK)
 *         say(fault.text);
 *
 * A function that takes a fault sets it whenever it does not return SP_OK, unless its header says
 * otherwise, and leaves it unchanged when it does. */
#ifndef SP_BASE_FAULT_H
#define SP_BASE_FAULT_H

#include <stdarg.h>

#include "base/err.h"

enum { SP_FAULT_BYTES = 4096 }; /* two paths, and a part of the user's text */

struct sp_fault {
    char text[SP_FAULT_BYTES];
};

/* Both set the text and return err, so that a failing function ends with `return
 * sp_fault_set(fault, SP_IO, ...)`. A text that is too long is cut between two characters and ends
 * with "…". The arguments may lie in the fault itself: sp_fault_set(fault, err, "%s: %s", file,
 * fault->text). `fault` must not be NULL, even if the caller does not want the text. */
enum sp_err sp_fault_set(struct sp_fault *fault, enum sp_err err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
enum sp_err sp_fault_setv(struct sp_fault *fault, enum sp_err err, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Replaces what would have an effect on a terminal (control characters of ASCII and Latin-1, except
 * line breaks and tabs) by "?": names of files and of columns come from outside. Faults have none
 * of it. */
void sp_fault_tame(char *text);

#endif
