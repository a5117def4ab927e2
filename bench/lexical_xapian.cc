/*
 * lexical_xapian.cc: Xapian on the texts of bench_lexical_corpus, for scale.
 *
 *   bench_lexical_xapian FOLDER [--queries FILE] [--top K] [--limit N] [--no-build]
 *
 * Words by blanks, as the others; without positions, which nobody else here keeps;
 * BM25 with our parameters. Built only where libxapian-dev is installed.
 */
#include <xapian.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

static double now()
{
	return std::chrono::duration<double, std::milli>(
		std::chrono::steady_clock::now().time_since_epoch())
		.count();
}

static void build(const std::string &folder)
{
	Xapian::WritableDatabase db(folder + "/xapian", Xapian::DB_CREATE_OR_OVERWRITE);
	std::ifstream in(folder + "/passages.tsv");
	std::string line, word;
	double start = now();
	unsigned long n = 0;

	while (std::getline(in, line)) {
		std::istringstream words(line);
		Xapian::Document doc;

		words >> word;
		doc.set_data(word);
		while (words >> word)
			doc.add_term(word);
		db.add_document(doc);
		if (++n % 10000 == 0) /* 500 would be hopeless for it */
			db.commit();
	}
	db.commit();
	std::printf("\"built\": %lu, \"build_s\": %.2f, ", n, (now() - start) / 1e3);
}

static void search(const std::string &folder, const std::string &queries, unsigned top,
	size_t limit)
{
	Xapian::Database db(folder + "/xapian");
	std::ifstream in(folder + "/" + queries);
	std::vector<double> times;
	std::string line, word;

	while (times.size() < limit && std::getline(in, line)) {
		std::istringstream words(line);
		std::vector<std::string> terms;

		while (words >> word)
			terms.push_back(word);
		double start = now();
		Xapian::Enquire enquire(db);
		enquire.set_weighting_scheme(Xapian::BM25Weight(1.2, 0, 1, 0.75, 0));
		enquire.set_query(Xapian::Query(Xapian::Query::OP_OR, terms.begin(), terms.end()));
		Xapian::MSet found = enquire.get_mset(0, top);
		times.push_back(now() - start);
	}
	if (times.empty())
		std::exit(1);
	std::sort(times.begin(), times.end());
	std::printf("\"queries\": %zu, \"p50\": %.3f, \"p99\": %.3f", times.size(),
		times[times.size() / 2], times[times.size() * 99 / 100]);
}

int main(int argc, char **argv)
{
	std::string folder = argc > 1 ? argv[1] : "", queries = "queries.txt";
	unsigned top = 10;
	size_t limit = 100000;
	bool make = true;

	for (int i = 2; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "0";

		if (std::strcmp(argv[i], "--no-build") == 0)
			make = false;
		else if (std::strcmp(argv[i], "--queries") == 0)
			queries = value;
		else if (std::strcmp(argv[i], "--top") == 0)
			top = static_cast<unsigned>(std::strtoul(value, nullptr, 10));
		else if (std::strcmp(argv[i], "--limit") == 0)
			limit = std::strtoul(value, nullptr, 10);
	}
	std::printf("{");
	if (make)
		build(folder);
	search(folder, queries, top, limit);
	std::printf("}\n");
	return 0;
}
