/*
 * server/words.c: one allocation holds the pointers and a copy of the text.
 */
#include "server/words.h"

#include <string.h>

#include "util/mem.h"

char **words_split(const char *text)
{
	size_t len = strlen(text), most = len / 2 + 2, n = 0;
	char *block = mem_alloc(most * sizeof(char *) + len + 1);
	char **words, *p;

	if (!block)
		return NULL;
	words = (char **)(void *)block;
	p = block + most * sizeof(char *);
	memcpy(p, text, len + 1);
	for (;;) {
		p += strspn(p, " \t");
		if (*p == '\0')
			break;
		words[n++] = p;
		p += strcspn(p, " \t");
		if (*p != '\0')
			*p++ = '\0';
	}
	words[n] = NULL;
	return words;
}
