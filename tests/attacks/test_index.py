"""The attacks and faults that are promised to be survived, by their names, each
with the tests that show it; and a test that these are there.

A test is FILE::FUNCTION, below tests/, or FILE::FUNCTION[WORDS] if it is one row
of a table: the words stand in the file, or in corpus.py.
"""

from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]


def attack(*names):
    """Rows of the corpus: on three engines, and many of them under gVisor and in an
    image without a shell."""
    return [f"attacks/test_corpus.py::test_attack[{name}]" for name in names]


def limit(*names):
    return [f"attacks/test_corpus.py::test_attack_on_limits[{name}]" for name in names]


def refused(*groups):
    return [f"attacks/test_refused.py::test_every_attempt_is_refused[{group}]" for group in groups]


def artifact(*names):
    return [f"attacks/test_artifacts.py::{name}" for name in names]


def fault(*names):
    return [f"fault/test_faults.py::{name}" for name in names]


def private(*names):
    return [f"fault/test_private_engines.py::{name}" for name in names]


def real(*names):
    return [f"fault/test_real_faults.py::{name}" for name in names]


def protocol(*names):
    return [f"e2e/test_protocol.py::{name}" for name in names]


def calls(*names):
    return [f"e2e/test_calls.py::{name}" for name in names]


def everyday(*names):
    return [f"attacks/test_everyday.py::test_works[{name}]" for name in names]


ATTACKS = {
    "fork bomb": attack("fork bomb", "fork bomb in JavaScript", "forks beyond the limit"),
    "thread bomb": attack("thread bomb"),
    "memory bomb": attack("memory bomb") + limit("memory bomb in JavaScript", "heap bomb in JavaScript",
                                                 "memory bomb by mmap"),
    "out of memory in a child only": attack("memory bomb in a child only"),
    "neighbour of a bomb": ["attacks/test_corpus.py::test_neighbour_of_a_bomb"],
    "write to the root file system": refused("root file system"),
    "fill /tmp, /dev/shm, /var/tmp, /run": attack("fills every file system"),
    "inode bomb": limit("inode bomb"),
    "endless stdout, stderr, both, without newlines": attack("endless stdout", "endless stderr",
                                                             "endless lines on both"),
    "burst of 5 MB, then exit": attack("burst of 5 MB on both streams, then exit"),
    "binary": attack("every byte"),
    "invalid UTF-8": attack("invalid UTF-8"),
    "lone surrogates": attack("lone surrogate", "lone surrogate in JavaScript"),
    "NUL": attack("NUL") + ["unit/test_progress.c::output_with_a_nul_is_told_to_its_end"],
    "ANSI, OSC 52": attack("terminal codes"),
    "fake JSON-RPC": attack("fake messages"),
    "fake trailer": attack("trailer with a wrong nonce", "unfinished trailer") + [
        "attacks/test_corpus.py::test_forged_trailer_harms_only_its_own_call",
        "attacks/test_forged_words.py::test_end_that_is_put_off"] + artifact("test_forged_words"),
    "closes descriptors 1 and 2": attack("closes its streams", "closes its streams and goes on",
                                         "closes its streams and spins"),
    "ignores every signal, spins, sleeps": attack("ignores every signal and spins", "ignores signals in JavaScript",
                                                  "sleeps in JavaScript", "sleeps"),
    "daemon, or a child with a session of its own, that keeps stdout": attack(
        "daemon that keeps stdout", "child with a session of its own", "child that outlives JavaScript"),
    "zombies": attack("zombies", "orphans are reaped"),
    "kill -1, kill 1": attack("kill -1", "kill -1, then sleeps", "kill 1"),
    "SIGKILL of itself": attack("SIGKILL of itself"),
    "segmentation fault": attack("segmentation fault", "fills the runner's directory, then dies"),
    "os._exit(42)": attack("_exit(42)"),
    "deep recursion": attack("deep recursion", "deep recursion in JavaScript"),
    "ptrace": refused("ptrace"),
    "freezes the runner": attack("freezes the runner", "stops itself"),
    "/proc/1/environ": attack("looks for secrets"),
    "/proc/kcore, sysctl": refused("/proc"),
    "mountinfo": attack("mounts"),
    "/sys": refused("/sys"),
    "/dev, mknod": refused("/dev and mknod") + attack("devices"),
    "mount, chroot, fsopen": refused("mount, chroot, fsopen"),
    "unshare, setns": refused("unshare, setns"),
    "keyctl, io_uring, bpf": refused("keyctl, io_uring, bpf"),
    "AF_VSOCK, AF_ALG, AF_PACKET": refused("AF_VSOCK, AF_ALG, AF_PACKET"),
    "other ways into the kernel": attack("32-bit system call", "x32 system call"),
    "metadata address, gateway, DNS": refused("network that is off"),
    "abstract sockets": ["attacks/test_refused.py::test_abstract_socket_of_the_host"],
    "engine sockets": refused("engine sockets"),
    "secrets in the environment": attack("looks for secrets") + [
        "e2e/test_pass_through.py::test_nothing_else_is_visible"],
    "stdin read again": attack("reads its stdin again"),
    "TIOCSTI": refused("terminal"),
    "clock": refused("what is the machine's"),
    "setuid programs": attack("writable places and setuid programs") + [
        "e2e/test_custom_images.py::test_setuid_program_gives_nothing"],
    "exec from a tmpfs": attack("runs a file of a temporary directory"),
    "descriptor bomb": attack("descriptor bomb"),
    "sparse file of a terabyte": attack("sparse file of a terabyte"),
    "code with NUL, empty": protocol("test_bad_argument_is_a_result_that_the_model_can_act_on[NUL]",
                                     "test_bad_argument_is_a_result_that_the_model_can_act_on[is empty]"),
    "code with a byte order mark, CRLF": attack("byte order mark", "byte order mark in JavaScript", "carriage returns",
                                                "carriage returns in JavaScript"),
    "code in invalid UTF-8": ["attacks/test_corpus.py::test_code_that_is_not_unicode_is_refused"],
    "syntax error": attack("syntax error", "syntax error in JavaScript"),
    "15 MB of code": attack("15 MB of code"),
    "unhandled rejection": attack("unhandled rejection"),
    "64 spinning workers": attack("64 spinning workers"),
    "deletes its own file": attack("removes its own file", "removes its own file in JavaScript"),
    "8 processor hogs": limit("eight processor hogs"),
    "leftovers of an earlier call": ["attacks/test_corpus.py::test_leftovers"],
    "artifacts that are symlinks, FIFOs": artifact("test_what_is_no_file_does_not_come"),
    "artifacts that are sparse": artifact("test_masses[sparse]"),
    "artifacts with odd names": artifact("test_odd_names", "test_paths_out_of_the_directory_are_refused",
                                         "test_forged_words[names]"),
    "artifacts by the thousands": artifact("test_masses[thousands]"),
    "names that begin with - or hold a newline": [
        "e2e/test_options.py::test_bad_value[--privileged]", r"e2e/test_options.py::test_bad_value[a\nb]",
        "unit/test_engine_argv.c::image_refused", "unit/test_engine_argv.c::env_name_refused",
        "unit/test_engine_argv.c::nothing_but_the_image_follows_the_dashes"],
}

FAULTS = {
    "CLI missing": fault("test_no_engine_at_all", "test_engine_by_path_that_is_not_there"),
    "daemon down": fault("test_both_down_are_both_told", "test_engine_that_comes_up_later_is_found") + private(
        "test_killed_daemon", "test_restarted_daemon"),
    "daemon stopped": private("test_frozen_daemon") + fault("test_command_that_hangs"),
    "daemon killed in the middle of a run": private("test_killed_daemon"),
    "conmon killed": real("test_monitor_killed", "test_spare_whose_monitor_was_killed"),
    "CLI killed": real("test_cli_killed", "test_cli_killed_while_a_file_is_read"),
    "CLI frozen": real("test_cli_frozen"),
    "image missing": private("test_image_removed_under_a_spare") + fault("test_image_that_is_pulled_first"),
    "pull slow": fault("test_slow_pull_gives_progress", "test_cancel_during_a_pull"),
    "pull failing": fault("test_pull_that_fails"),
    "disk full": private("test_full_disk") + ["attacks/test_hostile_sessions.py::test_full_disk"],
    "name taken": fault("test_name_that_is_taken"),
    "cp failing": fault("test_copy_that_fails"),
    "EMFILE": fault("test_out_of_descriptors") + ["inject/test_inject.py::test_while_it_runs[EMFILE]",
                                                  "inject/test_inject.py::test_no_connection_is_taken_at_the_end"],
    "ENOMEM on spawn": ["inject/test_inject.py::test_while_it_runs[ENOMEM]"],
    "no memory at all": ["inject/test_inject.py::test_without_memory"],
    "no seccomp profile": fault("test_no_place_for_the_profile", "test_profile_that_goes_with_its_directory",
                                "test_engine_that_does_not_take_the_profile") + [
        "inject/test_inject.py::test_without_a_profile"],
    "1,000 calls at once": ["load/test_load.py::test_a_thousand_calls_in_flight"],
    "client closes stdin in the middle": protocol("test_calls_that_the_end_of_stdin_overtakes_are_answered") + [
        "e2e/test_shutdown.py::test_end_of_stdin"],
    "client stops reading stdout": protocol(
        "test_client_that_does_not_read_for_a_while", "test_end_of_stdin_of_a_client_that_does_not_read",
        "test_answers_that_are_never_read") + ["protocol/test_http_messages.py::test_answers_that_nobody_reads"],
    "EPIPE": ["e2e/test_shutdown.py::test_client_that_stops_reading"],
    "malformed JSON": protocol("test_unreadable_message"),
    "100 MB line": protocol("test_line_that_is_too_long"),
    "half a line then a pause": protocol("test_half_a_line_then_a_pause"),
    "duplicate ids in flight": calls("test_duplicate_id_is_refused_and_the_first_goes_on"),
    "cancel for unknown, finished and queued calls": calls("test_cancel_of_what_is_over_or_never_was",
                                                           "test_cancel_of_a_waiting_call"),
    "SIGTERM, SIGINT, SIGKILL of the server": [
        "e2e/test_shutdown.py::test_sigterm", "e2e/test_shutdown.py::test_other_signals[SIGINT]",
        "e2e/test_shutdown.py::test_sigkill"] + fault("test_call_while_the_server_ends"),
    "system clock jump": fault("test_clock_that_is_set"),
    "many servers side by side": ["load/test_load.py::test_twenty_servers_side_by_side"],
    "leftovers of a reboot": ["e2e/test_orphans.py::test_sweep"] + fault("test_orphan_is_swept"),
}

PROMISES = {
    "flags": ["unit/test_engine_argv.c::container_words"] + fault("test_flags_of_a_container",
                                                                  "test_every_flag_is_in_the_manual"),
    "what was loosened is said once": ["e2e/test_sandbox_options.py::test_loosened"],
    "pip and npm": everyday("pip install", "npm install"),
    "multiprocessing, threads": everyday("multiprocessing pool", "shared memory", "threads"),
    "matplotlib": everyday("matplotlib"),
    "sqlite": everyday("sqlite"),
    "tempfile": everyday("temporary files"),
    "subprocess": everyday("subprocess and a pipe", "child processes in JavaScript"),
    "outgoing HTTPS": ["attacks/test_everyday.py::test_https"],
    "network on unless told": ["attacks/test_everyday.py::test_network_that_is_on",
                               "e2e/test_sandbox_options.py::test_no_network_for_one_call"],
    "own seccomp profile": ["e2e/test_sandbox_options.py::test_profile_of_our_own",
                            "e2e/test_sandbox_options.py::test_profile_that_is_none"],
    "unprivileged user": ["e2e/test_custom_images.py::test_what_the_image_says_does_not_count"] + refused("what it is"),
    "limits that the host cannot enforce": fault("test_missing_controllers"),
    "runtimes": ["e2e/test_sandbox_options.py::test_runtime", "attacks/test_corpus.py::test_attack_under_gvisor"],
    "secrets": [f"e2e/test_pass_through.py::{name}" for name in (
        "test_value_is_on_no_command_line_and_in_no_log", "test_value_is_in_no_error", "test_redacted",
        "test_redacted_in_files")],
    "10,000 calls in a row": ["load/test_load.py::test_thousands_of_calls_in_a_row"],
}


@pytest.mark.parametrize("items", [ATTACKS, FAULTS, PROMISES], ids=["attacks", "faults", "promises"])
def test_each_has_its_tests(items):
    corpus = (TESTS / "attacks/corpus.py").read_text()
    for item, tests in items.items():
        for test in tests:
            file, _, rest = test.partition("::")
            function, _, row = rest.partition("[")
            text = (TESTS / file).read_text()
            assert f"def {function}(" in text or f"START_TEST({function})" in text, (item, test)
            assert row.removesuffix("]") in text + corpus, (item, test)
