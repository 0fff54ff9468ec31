# Goes on from hook.py when the call is the first of a session: runs one
# snippet after the other in the same namespace, until the container goes.
import ast
import asyncio
import base64
import builtins
import contextvars
import linecache
import re
import signal
import traceback

# Snippets may put something else in its place.
open = builtins.open


# Opened anew: a program may turn its own streams into some that do not block.
def reopen(stream):
    try:
        return os.open(f"/proc/self/fd/{stream}", os.O_WRONLY)
    except OSError:
        return os.dup(stream)


out, err = reopen(1), reopen(2)
# It is written where we are now, wherever a snippet goes.
file = os.path.abspath(file)
namespace = sys.modules["__main__"].__dict__
namespace["__builtins__"] = builtins
program = sys.argv[0] = ""
sys.path.insert(0, "")
VALUE = "<value>"
VALUE_MAX = 100_000
# What may stand ahead of it: a declaration, a document type, comments.
SVG = re.compile(r"(?is)(\s|<\?((?!\?>).)*\?>|<!--((?!-->).)*-->|<![a-z][^>]*>)*<svg[\s>/]")
loop = None
own_pid = os.getpid()
# We are in the middle of its import: other threads would wait for the end of it.
sys.modules["site"].__spec__._initializing = False
number = 0
future = 0
handler = signal.getsignal(signal.SIGINT)
with open(ours + "/pid", "w") as target:
    target.write(f"{os.getpid()}\n")


# One that is told to stop does not go on in the loop of a later snippet.  What
# it has set for its context is set for those that follow.
def wait_for(coroutine):
    global loop
    variables = {}

    async def within():
        try:
            await coroutine
        finally:
            variables.update(contextvars.copy_context())

    if loop is None or loop.is_closed():
        loop = asyncio.new_event_loop()
        asyncio.set_event_loop(loop)
    task = loop.create_task(within())
    try:
        return loop.run_until_complete(task)
    finally:
        task.cancel()
        loop.run_until_complete(asyncio.wait([task]))
        task.cancelled() or task.exception()
        for variable, value in variables.items():
            variable.set(value)


# The plain one ignores SIGINT while it waits.
def system(command):
    sys.audit("os.system", command)
    words = ["sh", "-c", os.fsencode(command)]
    pid = os.posix_spawn("/bin/sh", words, os.environ, setpgroup=0)
    try:
        return os.waitpid(pid, 0)[1]
    except BaseException:
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        raise


os.system = system


def run(tree, name):
    global future
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | future
    code = compile(tree, name, "exec", flags, dont_inherit=True)
    # What "from __future__ import" turned on stays on.
    future |= code.co_flags & 0x1FF0000
    value = eval(code, namespace)
    if code.co_flags & 0x80:
        wait_for(value)


# As in a notebook, by a semicolon behind it.
def is_hidden(source, last):
    line = re.split(b"\r\n?|\n", source.encode())[last.end_lineno - 1]
    return line[last.end_col_offset:].lstrip().startswith(b";")


# The value of the last expression, if the snippet ends with one: it is given a
# name that no program can use.
def evaluate(source, name):
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | future
    tree = compile(source, name, "exec", flags, dont_inherit=True)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr) and not is_hidden(source, last):
        value = ast.copy_location(ast.Name(VALUE, ast.Store()), last)
        tree.body[-1] = ast.copy_location(ast.Assign([value], last.value), last)
    run(tree, name)
    return namespace.pop(VALUE, None)


# One that cannot be drawn is told in words; and why, as notebooks do.
def as_picture(value, snippet):
    for name, suffix in (("_repr_png_", "png"), ("_repr_svg_", "svg")):
        draw = getattr(type(value), name, None)
        try:
            picture = draw(value) if callable(draw) else None
        except Exception as error:
            tell_error(error, snippet)
            picture = None
        if picture and isinstance(picture, (bytes, str)):
            return picture, suffix
    if isinstance(value, str) and SVG.match(value):
        return value, "svg"
    return None, None


def tell_value(value, snippet):
    if value is None:
        return
    builtins._ = value
    picture, suffix = as_picture(value, snippet)
    if picture:
        import sandbox_pictures

        sandbox_pictures.keep(picture.encode() if isinstance(picture, str) else picture, suffix)
        return
    text = repr(value)
    if len(text) > VALUE_MAX:
        text = f"{text[:VALUE_MAX]}... ({len(text) - VALUE_MAX} more characters)"
    text = text.encode("utf-8", "replace")
    for start in range(0, len(text), 2250):
        say(b"value " + base64.b64encode(text[start:start + 2250]), out)


# Without the frames that are ours, and those of asyncio ahead of the snippet.
def trace_of(error, name):
    frames, trace = [], error.__traceback__
    while trace:
        frames.append((trace.tb_frame.f_code.co_filename, trace))
        trace = trace.tb_next
    for at in (name, None):
        for file, trace in frames:
            if file == at or (at is None and not file.startswith(ours + "/")):
                return trace
    return None


# Python's own hook finds the source of a snippet from 3.13 on.
def tell_error(error, name):
    hook = sys.excepthook
    if hook is sys.__excepthook__:
        hook = traceback.print_exception
    trace = trace_of(error, name)
    error = error.with_traceback(trace)
    try:
        hook(type(error), error, trace)
    except Exception as problem:
        tell_problem(problem, error)


# As Python does; there may be nowhere to say it.
def tell_problem(problem, error):
    try:
        print("Error in sys.excepthook:", file=sys.stderr)
        traceback.print_exception(type(problem), problem, None)
        print("\nOriginal exception was:", file=sys.stderr)
        traceback.print_exception(type(error), error, error.__traceback__)
    except Exception:
        pass


def status_of_exit(error):
    if error.code is None:
        return 0
    if isinstance(error.code, int):
        return error.code & 255
    try:
        print(error.code, file=sys.stderr)
    except Exception:
        pass
    return 1


def attempt(source, name):
    try:
        value = evaluate(source, name)
        if os.getpid() == own_pid:
            tell_value(value, name)
        return 0
    except SystemExit as error:
        return status_of_exit(error)
    except BaseException as error:
        try:
            tell_error(error, name)
        except SystemExit as exit:
            return status_of_exit(exit)
        return 130 if isinstance(error, KeyboardInterrupt) else 1


# What was drawn is shown also if the snippet fails; one that was told to stop
# has no time for it.
def execute(source, name):
    status = attempt(source, name)
    try:
        if status != 130 and os.getpid() == own_pid:
            show_open()
    except Exception as error:
        tell_error(error, name)
        return status or 1
    return status


# They are not the next snippet's.
def forget_figures():
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    if helpers:
        helpers.Gcf.figs.clear()


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


while True:
    number += 1
    name = f"<snippet {number}>"
    with open(file, encoding="utf-8-sig", newline="") as source:
        source = source.read()
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    sys.stdin = open(stdin, encoding="utf-8", closefd=stdin != 0)
    if "sandbox_pictures" in sys.modules:
        sys.modules["sandbox_pictures"].forget()
    try:
        signal.signal(signal.SIGINT, handler)
        say(b"started", out)
        status = execute(source, name)
        handler = signal.getsignal(signal.SIGINT) or signal.default_int_handler
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    except KeyboardInterrupt:
        status = 130
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        say(b"started", out)  # it may have been too early for that
    flush()
    # A child of the snippet ends where the snippet does.
    if os.getpid() != own_pid:
        os._exit(status)
    if status == 130:
        forget_figures()
    say(b"done %d" % status, out, err)
    words = []
    while "session" not in words:
        words = read_line(8)
    if "installed" in words:
        find_packages()
    sys.stdin = None  # a snippet's own closes what it was made of
    take_extras()
