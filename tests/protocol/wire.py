"""What went over the wire, and whether it was in order."""

import json

META = "io.modelcontextprotocol/"
LEGACY = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
REVISIONS = (*LEGACY, MODERN)
# What a client gets that never said initialize.
UNSAID = "2025-03-26"
TASKS = {"extensions": {f"{META}tasks": {}}}


def meta(capabilities=None, revision=MODERN, **more):
    return {f"{META}protocolVersion": revision, f"{META}clientCapabilities": capabilities or {},
            f"{META}clientInfo": {"name": "test", "version": "1"}, **more}


def named_revision(message):
    params = message.get("params") if isinstance(message, dict) else None
    named = params.get("_meta", {}).get(f"{META}protocolVersion") if isinstance(params, dict) else None
    return named if isinstance(named, str) else None


class Transcript:
    """Messages of a server, each with the request that it belongs to."""

    def __init__(self):
        self.entries = []

    def add(self, revision, request, message):
        """request is None when nobody knows what was asked."""
        self.entries.append((revision, request, message))

    def add_stdio(self, lines):
        """Of a recording: objects with "from" and "line", in their order."""
        agreed, asked = UNSAID, {}
        for record in lines:
            try:
                message = json.loads(record["line"])
            except (ValueError, RecursionError):
                assert record["from"] == "client", f"not JSON: {record['line'][:200]}"
                continue
            parts = message if isinstance(message, list) else [message]
            if record["from"] == "client":
                for part in parts:
                    if isinstance(part, dict) and "method" in part and "id" in part:
                        asked[json.dumps(part["id"])] = part
                continue
            if isinstance(message, list):
                self.add(agreed, None, message)
            for part in parts:
                request = asked.get(json.dumps(part.get("id"))) if "method" not in part else self.asker(asked, part)
                if request and request["method"] == "initialize" and "result" in part:
                    agreed = part["result"]["protocolVersion"]
                self.add(MODERN if request and named_revision(request) else agreed, request, part)

    @staticmethod
    def asker(asked, notification):
        """The request that a notification belongs to."""
        params = notification["params"]
        ident = params.get("_meta", {}).get(f"{META}subscriptionId")
        for request in asked.values():
            asked_for = request.get("params")
            token = asked_for.get("_meta", {}).get("progressToken") if isinstance(asked_for, dict) else None
            if (ident is not None and request["id"] == ident) or \
                    (token is not None and token == params.get("progressToken")):
                return request
        return None

    def assert_valid(self, validator):
        for revision, request, message in self.entries:
            self.assert_one_valid(validator, revision, request, message)

    @staticmethod
    def assert_one_valid(validator, revision, request, message):
        message = [with_id(part) for part in message] if isinstance(message, list) else with_id(message)
        complaints = validator.complaints(revision, request["method"] if request else None, message)
        assert complaints == [], f"{revision}, in answer to {request}: {json.dumps(message)[:2000]}"
        assert_belongs(revision, message)


def with_id(message):
    """Where the id could not be read: only the newer schemas allow for that."""
    return {**message, "id": 0} if "error" in message and "id" not in message else message


def assert_belongs(revision, message):
    """Fields that the schemas let pass, because they let any field pass."""
    result = message.get("result", {}) if isinstance(message, dict) else {}
    if revision < "2025-06-18":
        assert "structuredContent" not in result
        assert all("title" not in tool and "outputSchema" not in tool for tool in result.get("tools", []))
        assert "title" not in result.get("serverInfo", {})
    if revision < "2025-11-25":
        assert all("icons" not in thing for thing in [*result.get("tools", []), result.get("serverInfo", {})])
    if revision < MODERN:
        for name in ("resultType", "ttlMs", "cacheScope"):
            assert name not in result
        assert "extensions" not in result.get("capabilities", {})
    elif "result" in message:
        assert result["resultType"] in ("complete", "task")
        assert result["_meta"][f"{META}serverInfo"]["name"] == "code-sandbox"
