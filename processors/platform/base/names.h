/* Names of files that are written. They must survive a loss of power: fsync() of a file writes its
 * bytes to the disk, but its name is an entry of its folder, which needs an fsync() of its own. */
#ifndef SP_BASE_NAMES_H
#define SP_BASE_NAMES_H

#include <fts.h>
#include <stdbool.h>

struct sp_buf;

enum sp_names {
    SP_NAMES_LAST, /* the name of the file in its folder */
    SP_NAMES_ALL   /* also the names of all folders above it */
};

/* Writes the names in `path`, which must exist, to the disk; symbolic links are resolved first.
 * Folders that this user may not read are skipped, and so are file systems that cannot sync a
 * folder. False: the path cannot be resolved, or a disk failed; errno says why. Thread rule: any
 * thread. */
bool sp_names_sync(const char *path, enum sp_names names);

/* Makes the path of a name in a directory in `buf` and returns it. Thread rule: one thread at a
 * time for each buffer. */
const char *sp_names_join(struct sp_buf *buf, const char *directory, const char *name);

/* Whether there is such a file and it is a pipe, a device or a folder: to rename a new file to its
 * name would put a regular file in its place, so it is written to directly. Thread rule: any
 * thread. */
bool sp_names_special(const char *path);

/* Whether the entry is a link to a regular file. If so, the walk returns it again, as that file.
 * Links to folders are not followed, because a walk could then come to a folder twice. */
bool sp_names_follow_file(FTS *tree, FTSENT *entry);

/* Whether the name has that ending, letter by letter. Thread rule: any thread. */
bool sp_names_end_with(const char *name, const char *ending);

/* Whether the name has that ending, in letters of any case, and something before it; .gz or .zst
 * may follow. Thread rule: any thread. */
bool sp_names_have_type(const char *name, const char *ending);

#endif
