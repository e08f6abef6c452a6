/* What the fields of a record are called in JSON lines, JSON arrays and tables. */
#ifndef SP_INPUT_FIELDS_H
#define SP_INPUT_FIELDS_H

#include <stdbool.h>

/* Names; texts of the caller's, which outlive all that is made with them. */
struct sp_input_fields {
    const char *id;           /* "url" */
    const char *text;         /* "content" */
    const char *time;         /* "fetch_time_ms" */
    const char *status;       /* "http_status" */
    const char *redirect;     /* "redirect_url" */
    const char *content_type; /* "content_type" */
    const char *popularity;   /* "popularity" */
    /* An id need not be a URL: what is none becomes doc:ID, its unusual bytes as %XX, and may be a
     * whole number. */
    bool any_id;
    /* A time may be in seconds: what is below 100,000,000,000. */
    bool any_time;
    /* The records of a dataset: the text may be called "text" as well, and the id "id"; a record
     * without one is known by its number. */
    bool dataset;
};

void sp_input_fields_default(struct sp_input_fields *ret_fields);

#endif
