/* How the public headers mark what a library exports. */
#ifndef SP_SAMEPAGE_API_H
#define SP_SAMEPAGE_API_H

#ifndef SAMEPAGE_API
#if defined(__GNUC__)
#define SAMEPAGE_API __attribute__((visibility("default")))
#else
#define SAMEPAGE_API
#endif
#endif

#endif
