/* fsync() brings a file's bytes to the disk. Its name is an entry of its folder, which is brought
 * there by fsync() of the folder: without that, a loss of power may leave the file without a name.
 */
#ifndef SP_BASE_NAMES_H
#define SP_BASE_NAMES_H

#include <stdbool.h>

enum sp_names {
    SP_NAMES_LAST, /* the file's own, in its folder */
    SP_NAMES_ALL   /* and those of all folders on the way to it */
};

/* Brings the names of `path`, which exists, to the disk. Skips folders that this user may not read
 * and file systems that cannot sync a folder. False: a disk is failing; errno says how. Thread
 * rule: any thread. */
bool sp_names_sync(const char *path, enum sp_names names);

#endif
