/* real_texts.h: documents and questions of the judged collections, where they are. */
#ifndef RCPD_TESTS_ENGINE_REAL_TEXTS_H
#define RCPD_TESTS_ENGINE_REAL_TEXTS_H

#include "engine_model.h"

/* Collection number n, in order of names: some hundred documents and questions of it.
 * False: there is none. */
bool real_texts_load(unsigned n, struct model_real *ret);
void real_texts_release(struct model_real *real);

#endif
