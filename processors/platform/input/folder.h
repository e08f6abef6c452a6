/* Reads a folder of text and HTML files as one WARC stream: each file becomes a `resource` record
 * with the URL doc:PATH, in the order of paths. Private to this folder. Thread rule: one thread at
 * a time. */
#ifndef SP_INPUT_FOLDER_H
#define SP_INPUT_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "base/fault.h"

struct sp_folder;

/* Lists the files of the folder and its subfolders whose names are those of texts (txt, md, html
 * and similar), without hidden ones. SP_INVALID: there is none. */
enum sp_err sp_folder_open(const char *path, struct sp_folder **ret_folder, struct sp_fault *fault);
/* NULL is allowed. */
void sp_folder_close(struct sp_folder *f);
/* Like sp_source_read. */
enum sp_err sp_folder_read(struct sp_folder *f, char *to, size_t cap, size_t *ret_len);
/* Bytes of all files; bytes read so far. */
uint64_t sp_folder_total_bytes(const struct sp_folder *f);
uint64_t sp_folder_read_bytes(const struct sp_folder *f);

#endif
