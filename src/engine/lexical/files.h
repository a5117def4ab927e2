/* engine/lexical/files.h: writing files so that they are there whole or not at all. */
#ifndef RCPD_ENGINE_LEXICAL_FILES_H
#define RCPD_ENGINE_LEXICAL_FILES_H

#include <stddef.h>

#include "util/status.h"

/* Says what failed by errno: ST_FULL without room, else ST_IO. */
enum status lex_file_error(struct error *e, const char *what, const char *path);
/* Creates or empties a file for writing; *ret_fd is the caller's to close. */
enum status lex_file_create(const char *path, int *ret_fd, struct error *e);
/* All n bytes, at the file's current place. */
enum status lex_file_write(int fd, const char *path, const void *p, size_t n, struct error *e);
/* Syncs fd (file tmp), renames it to path and syncs the folder. */
enum status lex_file_publish(int fd, const char *tmp, const char *path, const char *dir,
	struct error *e);

#endif
