/* The names of a record's fields in JSON lines, JSON arrays and tables. */
#ifndef SP_INPUT_FIELDS_H
#define SP_INPUT_FIELDS_H

#include <stdbool.h>

/* The names are borrowed and must outlive everything that is made with them. */
struct sp_input_fields {
    const char *id;           /* "url" */
    const char *text;         /* "content" */
    const char *time;         /* "fetch_time_ms" */
    const char *status;       /* "http_status" */
    const char *redirect;     /* "redirect_url" */
    const char *content_type; /* "content_type" */
    const char *popularity;   /* "popularity" */
    /* An id need not be a URL and may be a whole number: an id that is no URL becomes doc:ID, with
     * control characters, spaces, %, # and bytes that are not UTF-8 as %XX. */
    bool any_id;
    /* Numbers below 100,000,000,000 are times in seconds, others in milliseconds. */
    bool any_time;
    /* The records of a dataset: the text may also be called "text", and the id "id", if there is no
     * other; the id of a record without one is its number. */
    bool dataset;
    /* Cells of tables are never quoted: a quotation mark is an ordinary character. */
    bool unquoted;
};

/* The names in the comments above; all switches off. */
void sp_input_fields_default(struct sp_input_fields *ret_fields);

#endif
