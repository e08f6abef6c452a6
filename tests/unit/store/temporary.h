/* A temporary directory for a state. */
#ifndef SP_TEST_STORE_TEMPORARY_H
#define SP_TEST_STORE_TEMPORARY_H

/* A new empty directory, removed with its content when the program ends; the name stays valid. */
const char *temporary_directory(void);

#endif
