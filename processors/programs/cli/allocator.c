/* How jemalloc serves the program. */
#include <jemalloc/jemalloc.h>

/* A freed extent may be split for a request down to 1/4,096 of its size; jemalloc's default is
 * 1/64. librdkafka frees large buffers and many small records in turn. With the default, records
 * took fresh memory while such buffers lay free, and page faults were a tenth of the processor time
 * of a restore. */
const char *malloc_conf = "lg_extent_max_active_fit:12";
