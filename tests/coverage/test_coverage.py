"""Runs check.py with the other tests, and shows that it can fail."""
import check


def test_every_requirement_has_a_test_or_is_listed():
	found = check.problems(check.defined_ids(), check.covered_ids(), check.read_list(check.UNCOVERED))
	assert not found, "\n".join(found)


def test_the_list_only_shrinks():
	defined, covered = {"M1", "M2", "M3"}, {"M1": {"a.py"}}
	assert check.problems(defined, covered, ["M2", "M3"]) == []
	assert "M3 has no test" in check.problems(defined, covered, ["M2"])[0]
	assert "M1 has a test now" in check.problems(defined, covered, ["M1", "M2", "M3"])[0]
	assert "no document defines it" in check.problems(defined, covered, ["M2", "M3", "Z9"])[0]
	assert "no document defines it" in check.problems(defined, {**covered, "Z9": {"b"}}, ["M2", "M3"])[0]


def test_ids_are_read_from_names_and_comments():
	assert check.ids_of_name("M3_D19_HTTP_05_RET06_") == {"M3", "D19", "HTTP-05", "RET-06"}
	assert check.NAME.findall("def test_M3_D19_HTTP_05_id_is_echoed():") == ["M3_D19_HTTP_05_"]
	assert check.COMMENT.findall("# REQ: M3, D19 HTTP-05 and T4: why") == ["M3, D19 HTTP-05 and T4"]
