/* engine/lexical/header.h: places of the fields in a segment file's header. */
#ifndef RCPD_ENGINE_LEXICAL_HEADER_H
#define RCPD_ENGINE_LEXICAL_HEADER_H

enum {
	LEX_H_FORMAT = 8,    /* 4 bytes, after the magic */
	LEX_H_WIDE = 12,     /* 4 bytes: 1 if lengths have 4 bytes */
	LEX_H_CHUNKS = 16,   /* 4 bytes */
	LEX_H_TERMS = 20,    /* 4 bytes */
	LEX_H_ID = 24,       /* 8 bytes, as in the file's name */
	LEX_H_SIZE = 32,     /* 8 bytes, of the file */
	LEX_H_LENGTH = 40,   /* 8 bytes: sum of the lengths */
	LEX_H_FIRST = 48,    /* 8 bytes: key of the first chunk */
	LEX_H_LAST = 56,     /* 8 bytes: key of the last one */
	LEX_H_SECTIONS = 64, /* offset, size, checksum of each section */
	LEX_H_SECTION_BYTES = 24,
	LEX_H_CHECKSUM = 504 /* 8 bytes, over what is before it */
};

#endif
