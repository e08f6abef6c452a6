/* The table of settings. Private to this folder. */
#ifndef SP_CONFIG_OPTIONS_H
#define SP_CONFIG_OPTIONS_H

#include <stddef.h>

#include "config/config.h"

enum sp_option_type {
    SP_OPTION_REAL,
    SP_OPTION_COUNT,
    SP_OPTION_BYTES,
    SP_OPTION_CHOICE,
    SP_OPTION_TEXT
};

struct sp_option {
    const char *key;
    enum sp_option_type type;
    size_t offset;       /* in struct sp_config */
    bool identity;       /* part of the state's fingerprint */
    const char *initial; /* the default, as a user would write it */
    double least;        /* of numbers; allowed itself. So is 0 if it is the default */
    double most;         /* the same; of texts: bytes, the final NUL included */
    const char *choices; /* "a|b" */
    const char *help;
};

extern const struct sp_option sp_options[];
extern const size_t sp_option_count;

#endif
