"""--max-output: the head, the tail, and an honest line between them."""

from harness import facts, facts_of, text_of

LIMIT = 1024
HALF = LIMIT // 2


def cut(head, count, tail):
    return f"{head}\n[... {count} bytes cut ...]\n{tail}"


def test_just_within_the_limit(fake, serve):
    server = serve(fake(), "--max-output", str(LIMIT))
    result = server.call(f"print('x' * {LIMIT - 1})")
    assert facts_of(result) == facts("x" * (LIMIT - 1) + "\n")


def test_beyond_the_limit(fake, serve):
    server = serve(fake(), "--max-output", str(LIMIT))
    result = server.call("import sys; sys.stdout.write('a' * 5000 + 'b' * 5000)")
    expected = cut("a" * HALF, 10000 - LIMIT, "b" * HALF)
    assert facts_of(result) == facts(expected, truncated=True)
    assert text_of(result) == expected


def test_one_byte_beyond_the_limit(fake, serve):
    server = serve(fake(), "--max-output", str(LIMIT))
    result = server.call(f"import sys; sys.stderr.write('e' * {LIMIT + 1})")
    assert facts_of(result) == facts(stderr=cut("e" * HALF, 1, "e" * HALF), truncated=True)


def test_each_stream_has_its_own_limit(fake, serve):
    server = serve(fake(), "--max-output", str(LIMIT))
    result = server.call(f"import sys; sys.stdout.write('o' * {LIMIT}); sys.stderr.write('e' * 2000)")
    assert facts_of(result) == facts("o" * LIMIT, cut("e" * HALF, 2000 - LIMIT, "e" * HALF), truncated=True)


def test_characters_are_not_cut_in_two(fake, serve):
    server = serve(fake(), "--max-output", str(LIMIT))
    result = server.call("import sys; sys.stdout.write('a' + '€' * 1000)")
    said = facts_of(result)["stdout"]
    assert "\ufffd" not in said
    head, _, rest = said.partition("\n[... ")
    count, _, tail = rest.partition(" bytes cut ...]\n")
    assert head == "a" + "€" * ((HALF - 1) // 3)
    assert tail == "€" * (HALF // 3)
    assert len(head.encode()) + int(count) + len(tail.encode()) == 3001


def test_flood_is_drained_and_memory_stays_flat(fake, serve):
    server = serve(fake(), "--max-output", "64k")
    server.call("print(1)")
    before = server.memory("VmRSS")
    result = server.call("import os\nfor i in range(1600): os.write(1, b'x' * 65536)")
    assert facts_of(result)["truncated"] is True
    assert f"[... {1600 * 65536 - 65536} bytes cut ...]" in text_of(result)
    assert server.memory("VmRSS") - before < 20000
