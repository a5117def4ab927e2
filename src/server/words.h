/* server/words.h: lists that stand in one value of the configuration. */
#ifndef RCPD_SERVER_WORDS_H
#define RCPD_SERVER_WORDS_H

/* Splits at blanks: returns a new NULL-terminated array in one block of memory
 * (mem_free it), or NULL when out of memory. */
char **words_split(const char *text);

#endif
