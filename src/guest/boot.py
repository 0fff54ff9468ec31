# Loaded by Python as "sitecustomize" while it starts up: takes in the hook, and
# goes on with it.  That comes on stdin, because the words of a command are read
# and written a dozen times on their way through an engine.
import os

ours = os.environ["PYTHONPATH"].partition(":")[0]


# Nobody wants the container any more when stdin ends.
def receive(fd, most):
    piece = os.read(fd, most)
    if not piece:
        os._exit(0)
    return piece


# One byte at a time: what follows may be for somebody else.
def read_line(fd):
    line = b""
    while not line.endswith(b"\n"):
        line += receive(fd, 1)
    return line.decode().split()


def place_hook():
    left = int(read_line(3)[1])
    hook = b""
    while len(hook) < left:
        hook += receive(3, left - len(hook))
    for part in hook.split(b"\036")[1:]:
        name, _, text = part.partition(b"\n")
        with open(os.fsencode(ours) + b"/" + name, "wb") as target:
            target.write(text)


# It is there when Python has started again.
if not os.path.exists(ours + "/hook.py"):
    place_hook()
with open(ours + "/hook.py", "rb") as source:
    hook = compile(source.read(), ours + "/hook.py", "exec")
exec(hook)
