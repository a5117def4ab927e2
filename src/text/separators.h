/* text/separators.h: where words end, beyond ASCII. */
#ifndef RCPD_TEXT_SEPARATORS_H
#define RCPD_TEXT_SEPARATORS_H

#include <stdbool.h>
#include <stdint.h>

/* True for punctuation, spaces, symbols, controls and the like; cp >= 0x80. */
bool text_is_separator(uint32_t cp);

#endif
