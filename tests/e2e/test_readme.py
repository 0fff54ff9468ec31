"""What README.md prints can be copied as it is."""

import json
import re
import tomllib

import pytest
from harness import ROOT

README = (ROOT / "README.md").read_text()
READERS = {"json": json.loads, "toml": tomllib.loads}
BLOCKS = [(kind, text) for kind, text in re.findall(r"^```(\w*)\n(.*?)^```$", README, re.M | re.S) if kind in READERS]


def servers_of(settings):
    """In the words of each client."""
    return next((settings[name] for name in ("mcpServers", "servers", "mcp_servers") if name in settings), {})


@pytest.mark.parametrize(("kind", "text"), BLOCKS)
def test_block_can_be_read(kind, text):
    assert READERS[kind](text)


def test_stanzas_name_the_command():
    stanzas = [(kind, servers) for kind, text in BLOCKS if (servers := servers_of(READERS[kind](text)))]
    assert {kind for kind, _ in stanzas} == {"json", "toml"}
    for _, servers in stanzas:
        assert list(servers) == ["code-sandbox"]
        assert servers["code-sandbox"]["command"] == "code-sandbox-mcp"
