/*
 * totals.c: the one row of the corpus and the documents of each language. A write
 * carries them in memory and saves them when it commits, so that many small changes
 * cost one update.
 */
#include "engine/store/private.h"

static enum status load_corpus(struct db *db, struct store_carried *c, struct error *e)
{
	struct db_call call;
	bool row = false;
	enum status st;

	db_start(&call, db, STATEMENT_GET_CORPUS);
	st = db_step(&call, &row, e);
	if (!st && !row)
		st = error_set(e, ST_CORRUPT, "the corpus is damaged: its totals are missing");
	if (!st) {
		c->totals.version = db_column_size(&call, 0);
		c->totals.documents = db_column_size(&call, 1);
		c->totals.chunks = db_column_size(&call, 2);
		c->totals.text_bytes = db_column_size(&call, 3);
		c->totals.time_ms = db_column_int(&call, 4);
		c->next_document = db_column_int(&call, 5);
		c->next_chunk = db_column_int(&call, 6);
	}
	db_end(&call);
	return st;
}

static enum status load_languages(struct db *db, struct store_carried *c, struct error *e)
{
	struct db_call call;
	bool row = true;
	enum status st = ST_OK;

	db_start(&call, db, STATEMENT_GET_LANGUAGES);
	while (!st && row) {
		struct bytes tag;

		st = db_step(&call, &row, e);
		if (!st && row)
			st = db_column_borrow(&call, 0, &tag, e);
		if (!st && row)
			c->totals.languages[text_lang_parse(tag)] = db_column_size(&call, 1);
	}
	db_end(&call);
	return st;
}

enum status store_load_totals(struct db *db, struct store_carried *ret, struct error *e)
{
	struct store_carried c = { .changed = false };
	enum status st = load_corpus(db, &c, e);

	if (!st)
		st = load_languages(db, &c, e);
	if (!st)
		*ret = c;
	return st;
}

static enum status save_language(struct db *db, enum text_lang lang, uint64_t documents,
	struct error *e)
{
	struct db_call call;

	db_start(&call, db, STATEMENT_SET_LANGUAGE);
	db_bind_text(&call, 1, bytes_of(text_lang_tag(lang)));
	db_bind_size(&call, 2, documents);
	return db_finish(&call, e);
}

enum status store_save_totals(struct db *db, const struct store_carried *before,
	const struct store_carried *now, struct error *e)
{
	struct db_call call;
	enum status st;

	db_start(&call, db, STATEMENT_SET_CORPUS);
	db_bind_size(&call, 1, now->totals.version);
	db_bind_size(&call, 2, now->totals.documents);
	db_bind_size(&call, 3, now->totals.chunks);
	db_bind_size(&call, 4, now->totals.text_bytes);
	db_bind_int(&call, 5, now->totals.time_ms);
	db_bind_int(&call, 6, now->next_document);
	db_bind_int(&call, 7, now->next_chunk);
	st = db_finish(&call, e);
	for (unsigned i = 0; !st && i < TEXT_LANG_COUNT; i++)
		if (now->totals.languages[i] != before->totals.languages[i])
			st = save_language(db, (enum text_lang)i, now->totals.languages[i], e);
	return st;
}
