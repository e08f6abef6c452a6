/* A folder of texts and HTML files as one WARC stream: each file is a `resource` record of the URL
 * doc:PATH, in order of path. Private to this folder. */
#ifndef SP_INPUT_FOLDER_H
#define SP_INPUT_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct sp_folder;

/* Looks for the files: all below with a name of a text (txt, md, html and their like), hidden ones
 * left out. SP_INVALID where there is none. */
enum sp_err sp_folder_open(const char *path, struct sp_folder **ret_folder, struct sp_fault *fault);
/* The MIME type of a text of that name; NULL: the name is none of a text. */
const char *sp_folder_type_of(const char *name);
/* NULL is allowed. */
void sp_folder_close(struct sp_folder *f);
/* As sp_source_read. */
enum sp_err sp_folder_read(struct sp_folder *f, char *to, size_t cap, size_t *ret_len);
uint64_t sp_folder_total_bytes(const struct sp_folder *f);
uint64_t sp_folder_read_bytes(const struct sp_folder *f);

#endif
