/* How much memory the process may use. Thread rule: any thread. */
#ifndef SP_BASE_ROOM_H
#define SP_BASE_ROOM_H

#include <stdint.h>

/* Bytes: the least of the machine's memory, of the limits of the process's control groups (versions
 * 1 and 2), and of its own resource limits (RLIMIT_AS, RLIMIT_DATA). What others use of it is not
 * taken into account, so that the result stays the same while the machine does. */
uint64_t sp_room_bytes(void);

/* For tests: the least limit of the control groups, UINT64_MAX without any. `groups` names the file
 * that is usually /proc/self/cgroup, and `mount` the directory that is usually /sys/fs/cgroup. */
uint64_t sp_room_of_groups(const char *groups, const char *mount);

#endif
