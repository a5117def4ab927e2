/* engine_model.c: see engine_model.h. Scores are computed by the same expressions in
 * the same order as lexical/score.c does, so that they can be compared bit for bit. */
#include "engine_model.h"

#include <math.h>
#include <stdio.h>

#include "util/strbuf.h"
#include "util/utf8.h"

#define K1 1.2
#define B 0.75
#define TITLE_WEIGHT 3

static void check(bool good)
{
	if (!good)
		abort();
}

uint32_t model_below(struct model_rng *r, uint32_t n)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)(((z ^ z >> 31) >> 32) * n >> 32);
}

void model_init(struct model *m, uint64_t seed)
{
	memset(m, 0, sizeof *m);
	m->rng.state = seed;
	check(text_analyzer_new(&m->analyzer) == ST_OK);
}

void model_release(struct model *m)
{
	for (size_t i = 0; i < MODEL_DOCS; i++)
		model_doc_release(&m->docs[i]);
	text_analyzer_free(m->analyzer);
}

void model_doc_release(struct model_doc *d)
{
	for (size_t i = 0; i < d->bag_count; i++)
		free(d->bags[i].terms);
	free(d->text);
	*d = (struct model_doc){ .alive = false };
}

/* ---- texts ---- */

static const char *const words[] = { "river", "rivers", "mountain", "stone", "running", "run",
	"light", "the", "of", "and", "house", "houses", "garden", "snake_case_name", "HTTP-404",
	"don't", "node.js", "water", "fire", "wind", "north", "south", "zebra", "quartz" };
#define WORDS (sizeof words / sizeof words[0])

/* Whole sentences, so that their languages can be told. */
static const char *const foreign[] = {
	"Der Fluss und die Berge sind nicht weit von dem Haus, das wir gesehen haben.",
	"La maison de l'avion est dans le jardin, et les rivières ne sont pas loin.",
	"Река течёт мимо дома, и горы видны с каждого холма.",
	"東京の川は長いです。山も高いです。",
	"แม่น้ำและภูเขาอยู่ไกลจากบ้าน",
	"النهر بعيد عن البيت والجبال عالية",
	"The river and the mountains are not far from the house that we have seen.",
	"Häuser am Fluss",
	"\xF0\x9F\x98\x80 zebra \xF0\x9F\x8F\xA0",
};
#define FOREIGN (sizeof foreign / sizeof foreign[0])

/* The first words are frequent. */
static const char *draw_word(struct model *m)
{
	uint32_t a = model_below(&m->rng, WORDS), b = model_below(&m->rng, WORDS);

	return words[a < b ? a : b];
}

static void add_sentence(struct model *m, struct strbuf *out, bool html)
{
	uint32_t n = 1 + model_below(&m->rng, 8);

	if (html)
		strbuf_adds(out, "<p class=\"river\">");
	for (uint32_t i = 0; i < n; i++)
		strbuf_addf(out, html && i % 3 == 1 ? " <b>%s</b>&amp;" : " %s", draw_word(m));
	strbuf_adds(out, html ? "</p>\n" : ". ");
}

/* One stretch a chunk; the next may begin before its end, between sentences. */
static void draw_text(struct model *m, struct model_doc *d, size_t chunks)
{
	bool html = d->doc.format == TEXT_HTML;
	struct strbuf text = STRBUF_INIT;
	uint64_t before = 0;

	for (size_t i = 0; i < chunks; i++) {
		uint64_t start = text.len;

		if (model_below(&m->rng, 12) == 0)
			strbuf_adds(&text, foreign[model_below(&m->rng, FOREIGN)]);
		add_sentence(m, &text, html);
		d->chunks[i] = (struct engine_chunk){ .byte_start = start, .byte_end = text.len };
		if (i > 0 && model_below(&m->rng, 4) == 0)
			d->chunks[i].byte_start = before; /* overlaps the one before */
		if (model_below(&m->rng, 2))
			d->chunks[i].context = bytes_of("North > garden house");
		before = start;
	}
	check(strbuf_ok(&text));
	d->text = malloc(text.len + 1);
	check(d->text != NULL);
	memcpy(d->text, text.data ? text.data : "", text.len);
	d->doc.text = (struct bytes){ d->text, text.len };
	strbuf_release(&text);
}

/* A text as it is, cut anywhere into stretches that follow one another. */
static void take_text(struct model *m, struct model_doc *d, size_t chunks)
{
	size_t no = model_below(&m->rng, (uint32_t)m->real->count), at = 0;
	size_t len = strlen(m->real->texts[no]);

	d->text = strdup(m->real->texts[no]);
	check(d->text != NULL);
	d->doc.text = (struct bytes){ d->text, len };
	d->doc.title = bytes_of(m->real->titles[no]);
	d->doc.chunk_count = 0;
	for (size_t i = 1; i <= chunks; i++) {
		size_t end = utf8_floor(d->text, len, len * i / chunks);

		if (end == at)
			continue;
		d->chunks[d->doc.chunk_count++] =
			(struct engine_chunk){ .byte_start = at, .byte_end = end };
		at = end;
	}
}

static void draw_values(struct model *m, struct model_doc *d, bool first)
{
	size_t n = 0;

	for (size_t f = 0; f < MODEL_FIELDS && first; f++, n++)
		model_first_value(d, n, f);
	for (size_t f = 0; f < MODEL_FIELDS && !first; f++) {
		uint32_t count = model_below(&m->rng, 3);
		bool element = model_below(&m->rng, 3) == 0;

		if (!element && count > 1)
			count = 1;
		for (; count > 0 && n < MODEL_VALUES; count--, n++)
			model_draw_value(m, d, n, f, element);
	}
	d->doc.values = d->values;
	d->doc.value_count = n;
}

/* ---- bags ---- */

struct counting {
	struct model_bag *bag;
	uint32_t weight;
};

static int compare_terms(const void *a, const void *b)
{
	const struct model_term *x = a, *y = b;

	return bytes_cmp((struct bytes){ x->word, x->len }, (struct bytes){ y->word, y->len });
}

static int count_term(void *arg, const struct text_term *t)
{
	struct counting *c = arg;
	struct model_bag *bag = c->bag;

	if (!(t->flags & TEXT_TERM_INNER))
		bag->length += c->weight;
	for (size_t i = 0; i < bag->n; i++) {
		if (bag->terms[i].len == t->len && !memcmp(bag->terms[i].word, t->data, t->len)) {
			bag->terms[i].tf += c->weight;
			return 0;
		}
	}
	if (bag->n == bag->cap) {
		bag->cap = bag->cap ? bag->cap * 2 : 32;
		bag->terms = realloc(bag->terms, bag->cap * sizeof *bag->terms);
		check(bag->terms != NULL);
	}
	bag->terms[bag->n] = (struct model_term){ .len = t->len, .tf = c->weight };
	memcpy(bag->terms[bag->n++].word, t->data, t->len);
	return 0;
}

static void make_bag(struct model *m, const struct model_doc *d, struct bytes text,
	struct bytes context, struct model_bag *bag)
{
	struct counting title = { bag, TITLE_WEIGHT }, once = { bag, 1 };
	struct strbuf buf = STRBUF_INIT;
	struct bytes plain;

	check(text_plain(text, d->doc.format, &buf, &plain) == ST_OK);
	if (d->doc.title.data)
		text_analyze(m->analyzer, d->doc.title, d->lang, count_term, &title);
	if (d->doc.contextual && context.data)
		text_analyze(m->analyzer, context, d->lang, count_term, &once);
	text_analyze(m->analyzer, plain, d->lang, count_term, &once);
	if (bag->n)
		qsort(bag->terms, bag->n, sizeof *bag->terms, compare_terms);
	strbuf_release(&buf);
}

/* From what a person reads of the text, else from the title. */
static enum text_lang guess(const struct engine_document *doc)
{
	struct strbuf buf = STRBUF_INIT;
	enum text_lang lang;
	struct bytes plain;

	check(text_plain(doc->text, doc->format, &buf, &plain) == ST_OK);
	lang = text_lang_detect(plain);
	if (lang == TEXT_LANG_NONE && doc->title.data)
		lang = text_lang_detect(doc->title);
	strbuf_release(&buf);
	return lang;
}

static void make_bags(struct model *m, struct model_doc *d)
{
	d->lang = d->doc.lang.data ? text_lang_parse(d->doc.lang) : guess(&d->doc);
	d->bag_count = d->doc.chunk_count ? d->doc.chunk_count : 1;
	for (size_t i = 0; i < d->bag_count; i++) {
		struct bytes text = d->doc.text, context = BYTES_NONE;

		if (d->doc.chunk_count) {
			text.data += d->chunks[i].byte_start;
			text.len = d->chunks[i].byte_end - d->chunks[i].byte_start;
			context = d->chunks[i].context;
		}
		make_bag(m, d, text, context, &d->bags[i]);
	}
}

void model_draw(struct model *m, size_t no, struct model_doc *ret)
{
	static const char *const langs[] = { NULL, NULL, "en", "en-GB", "de", "xx" };
	size_t chunks = model_below(&m->rng, MODEL_CHUNKS + 1);

	*ret = (struct model_doc){ .alive = false };
	snprintf(ret->id, sizeof ret->id, "%s%zu", no % 3 ? "d" : "Doc-", no);
	ret->doc.format = (enum text_format)model_below(&m->rng, 4);
	ret->doc.contextual = model_below(&m->rng, 2);
	if (m->real) {
		take_text(m, ret, chunks);
	} else {
		draw_text(m, ret, chunks);
		ret->doc.chunk_count = chunks;
		if (model_below(&m->rng, 2))
			ret->doc.title = bytes_of(draw_word(m));
	}
	if (model_below(&m->rng, 2))
		ret->doc.lang = bytes_of(langs[model_below(&m->rng, 6)]);
	draw_values(m, ret, no == 0);
	make_bags(m, ret);
}

/* A document moves: what points into itself has to follow. */
static void settle(struct model_doc *d, const struct model_doc *from)
{
	for (size_t i = 0; i < d->doc.value_count; i++)
		if (d->values[i].kind == ENGINE_V_STRING && d->values[i].s.data == from->strings[i])
			d->values[i].s.data = d->strings[i];
	d->doc.id = bytes_of(d->id);
	d->doc.chunks = d->chunks;
	d->doc.values = d->values;
}

void model_put(struct model *m, size_t no, struct model_doc *d)
{
	model_doc_release(&m->docs[no]);
	m->docs[no] = *d;
	settle(&m->docs[no], d);
	m->docs[no].alive = true;
}

void model_kill(struct model *m, size_t no)
{
	model_doc_release(&m->docs[no]);
}

/* ---- queries ---- */

void model_draw_query(struct model *m, char *buf, size_t size)
{
	uint32_t n = 1 + model_below(&m->rng, 4);
	size_t len = 0;

	buf[0] = '\0';
	if (m->real) {
		const char *query =
			m->real->queries[model_below(&m->rng, (uint32_t)m->real->query_count)];

		len = utf8_floor(query, strlen(query),
			strlen(query) < size ? strlen(query) : size - 1);
		memcpy(buf, query, len);
		buf[len] = '\0';
		return;
	}
	if (model_below(&m->rng, 6) == 0)
		len = (size_t)snprintf(buf, size, "%s", foreign[model_below(&m->rng, FOREIGN)]);
	for (uint32_t i = 0; i < n && len + 40 < size; i++)
		len += (size_t)snprintf(buf + len, size - len, " %s", draw_word(m));
}

/* The query's language if documents are in it, else that of most. */
static enum text_lang query_language(const struct model *m, const char *query)
{
	size_t documents[TEXT_LANG_COUNT] = { 0 };
	enum text_lang lang = text_lang_detect(bytes_of(query)), most = TEXT_LANG_NONE;

	for (size_t i = 0; i < MODEL_DOCS; i++)
		if (m->docs[i].alive)
			documents[m->docs[i].lang]++;
	if (lang != TEXT_LANG_NONE && documents[lang])
		return lang;
	for (unsigned l = 0; l < TEXT_LANG_COUNT; l++)
		if (documents[l] > documents[most])
			most = (enum text_lang)l;
	return most;
}

struct taking {
	struct model_term *to;
	size_t n, max;
};

static int take_term(void *arg, const struct text_term *t)
{
	struct taking *k = arg;

	if (t->flags & (TEXT_TERM_INNER | TEXT_TERM_STOP))
		return 0;
	check(k->n < k->max);
	k->to[k->n] = (struct model_term){ .len = t->len };
	memcpy(k->to[k->n++].word, t->data, t->len);
	return 0;
}

size_t model_analyze(struct model *m, const char *query, struct model_term *ret, size_t max)
{
	struct taking k = { ret, 0, max };

	check(text_analyze(m->analyzer, bytes_of(query), query_language(m, query), take_term, &k) ==
		ST_OK);
	return k.n;
}

/* ---- answers ---- */

static uint32_t tf_of(const struct model_bag *bag, const struct model_term *term)
{
	const struct model_term *found =
		bag->n ? bsearch(term, bag->terms, bag->n, sizeof *term, compare_terms) : NULL;

	return found ? found->tf : 0;
}

static uint64_t df_of(const struct model *m, const struct model_term *term)
{
	uint64_t df = 0;

	for (size_t i = 0; i < MODEL_DOCS; i++)
		for (size_t c = 0; c < m->docs[i].bag_count; c++)
			df += tf_of(&m->docs[i].bags[c], term) > 0;
	return df;
}

static int compare_hits(const void *a, const void *b)
{
	const struct model_hit *x = a, *y = b;
	int c;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	c = bytes_cmp(x->doc->doc.id, y->doc->doc.id);
	return c ? c : (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

static double score(const struct model_bag *bag, const struct model_term *terms, const double *idfs,
	size_t n, double average)
{
	double sum = 0, norm = K1 * (1 - B + B * bag->length / average);

	for (size_t i = 0; i < n; i++) {
		uint32_t tf = tf_of(bag, &terms[i]);

		if (tf > 0)
			sum += idfs[i] * (tf * (K1 + 1) / (tf + norm));
	}
	return sum;
}

/* Of the living alone: the dead have no bags. */
static void count(const struct model *m, uint64_t *ret_chunks, uint64_t *ret_length)
{
	*ret_chunks = *ret_length = 0;
	for (size_t i = 0; i < MODEL_DOCS; i++)
		for (size_t c = 0; c < m->docs[i].bag_count; c++) {
			++*ret_chunks;
			*ret_length += m->docs[i].bags[c].length;
		}
}

size_t model_search(const struct model *m, const struct model_term *terms, size_t n,
	model_pass *pass, const void *arg, struct model_hit *ret)
{
	double idfs[ENGINE_MAX_TERMS], average;
	uint64_t chunks, length;
	size_t hits = 0;

	check(n <= ENGINE_MAX_TERMS);
	count(m, &chunks, &length);
	average = chunks > 0 && length > 0 ? (double)length / (double)chunks : 1;
	for (size_t i = 0; i < n; i++) {
		double df = (double)df_of(m, &terms[i]);

		idfs[i] = log(1 + ((double)chunks - df + 0.5) / (df + 0.5));
	}
	for (size_t i = 0; i < MODEL_DOCS; i++) {
		const struct model_doc *d = &m->docs[i];

		for (size_t c = 0; c < d->bag_count && (!pass || pass(d, arg)); c++) {
			double s = score(&d->bags[c], terms, idfs, n, average);

			if (s > 0)
				ret[hits++] = (struct model_hit){ d, (uint32_t)c, s };
		}
	}
	qsort(ret, hits, sizeof *ret, compare_hits);
	return hits;
}

size_t model_list(const struct model *m, model_pass *pass, const void *arg, struct model_hit *ret)
{
	size_t hits = 0;

	for (size_t i = 0; i < MODEL_DOCS; i++) {
		const struct model_doc *d = &m->docs[i];

		for (size_t c = 0; c < d->bag_count && pass(d, arg); c++)
			ret[hits++] = (struct model_hit){ d, (uint32_t)c, 0 };
	}
	qsort(ret, hits, sizeof *ret, compare_hits);
	return hits;
}
