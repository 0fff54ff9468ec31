"""What the other tests made the server say, against the schemas."""

import json
import os
from pathlib import Path

import pytest
from wire import Transcript


def test_recordings(validator):
    directory = os.environ.get("CSM_RECORDINGS")
    files = sorted(path for path in Path(directory or "/nowhere").rglob("*") if path.is_file())
    if not files:
        pytest.skip("no recordings: make check-inject and check-e2e leave them")
    seen = set()
    for file in files:
        transcript = Transcript()
        transcript.add_stdio(json.loads(line) for line in file.read_text().splitlines())
        transcript.entries = [entry for entry in transcript.entries if is_new(seen, *entry)]
        transcript.assert_valid(validator)


def is_new(seen, revision, request, message):
    """Some tests ask the same thing thousands of times."""
    said = {**message, "id": "id" in message} if isinstance(message, dict) else message
    key = hash((revision, request["method"] if request else None, json.dumps(said)))
    before = len(seen)
    seen.add(key)
    return len(seen) > before
