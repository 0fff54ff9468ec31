"""Progress notifications, for those who asked."""

from harness import Session, assert_success


def test_output_comes_as_progress(fake, serve):
    server = serve(fake())
    ident = server.start_call("import time\nfor i in range(3): print('step', i); time.sleep(1.2)",
                              meta={"progressToken": 5})
    result = server.result(ident)
    assert_success(result, "step 0\nstep 1\nstep 2")
    notes = [message["params"] for message in server.notifications]
    assert len(notes) >= 2
    assert {note["progressToken"] for note in notes} == {5}
    counts = [note["progress"] for note in notes]
    assert counts == sorted(set(counts))
    assert any("step" in note["message"] for note in notes)


def test_output_comes_as_progress_from_each_engine(engine, serve):
    """While the program runs: it waits for what the client does then."""
    server = serve(engine)
    session = Session(server)
    ident = session.start("import time\nfor n in range(100):\n  print('line', n); time.sleep(0.1)",
                          meta={"progressToken": "live"}, timeout_seconds=60)
    server.wait_notification(lambda message: "line 1" in message["params"].get("message", ""))
    assert server.replies(ident) == []
    server.notify("notifications/cancelled", {"requestId": ident})
    assert session.value("n < 99") == "True"
    session.end()


def test_none_without_a_token(fake, serve):
    server = serve(fake())
    assert_success(server.call("import time; print('x'); time.sleep(2.5)"), "x")
    assert server.notifications == []


def test_none_after_the_result(fake, serve):
    server = serve(fake())
    ident = server.start_call("import time; time.sleep(1.5); print('over')", meta={"progressToken": "t"})
    server.result(ident)
    after = len(server.notifications)
    assert_success(server.call("import time; time.sleep(2)\nprint('quiet')"), "quiet")
    assert len(server.notifications) == after


def test_none_after_a_cancel(fake, serve):
    server = serve(fake())
    ident = server.start_busy(meta={"progressToken": "t"})
    server.wait_notification()
    server.notify("notifications/cancelled", {"requestId": ident})
    server.request("ping")
    after = len(server.notifications)
    assert_success(server.call("import time; time.sleep(2)\nprint('quiet')"), "quiet")
    assert len(server.notifications) == after


def test_no_message_in_the_first_revision(fake, serve):
    server = serve(fake(), revision="2024-11-05")
    server.result(server.start_call("import time; time.sleep(1.5)", meta={"progressToken": "t"}))
    assert server.notifications
    assert not [message for message in server.notifications if "message" in message["params"]]
