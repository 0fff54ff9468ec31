# Loaded by Python as "sitecustomize" while it starts up, before it opens the
# script: waits here for the code.  When it is over nothing is left of it: the
# environment, sys.path and sys.modules are those of the plain command.
import os
import sys

# The image's own sitecustomize, if there is one, takes this one's place.
ours, _, rest = os.environ["PYTHONPATH"].partition(":")
if rest:
    os.environ["PYTHONPATH"] = rest
else:
    del os.environ["PYTHONPATH"]
nonce, file, preload = os.environ.pop("SANDBOX_RUNNER").split(" ")
sys.path.remove(ours)
sys.path_importer_cache.pop(ours, None)
del sys.modules["sitecustomize"]
missing = None
try:
    import sitecustomize
except ImportError as error:
    missing = error


def say(word, *streams):
    for stream in streams:
        os.write(stream, b"\036%s %s\n" % (nonce.encode(), word))


def read_code():
    size, code = None, b""
    while size is None or len(code) < size:
        piece = os.read(3, 1 << 20)
        if not piece:
            os._exit(0)
        code += piece
        if size is None and b"\n" in code:
            header, _, code = code.partition(b"\n")
            size = int(header)
    return code


def write_code(code):
    target = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    while code:
        code = code[os.write(target, code):]
    os.close(target)


for name in preload.split(","):
    try:
        if name:
            __import__(name)
    except Exception:
        pass
say(b"ready", 1, 2)
write_code(read_code())
say(b"started", 1)
os.write(7, b"\n")
os.close(3)
os.close(7)
# Python takes this for a missing sitecustomize, which it is.
if missing:
    raise missing
