# Tries what ATTEMPTS has, and prints what came of each: a value, or the name
# of the error.
import ctypes
import errno
import fcntl
import glob
import json
import os
import platform
import resource
import socket
import stat
import time

LIBC = ctypes.CDLL(None, use_errno=True)
MACHINE = ("x86_64", "aarch64").index(platform.machine())


def libc(name, *arguments):
    if getattr(LIBC, name)(*arguments) == -1:
        raise OSError(ctypes.get_errno(), name)


def syscall(x86_64, aarch64, *arguments):
    """For what has no function in the C library."""
    libc("syscall", (x86_64, aarch64)[MACHINE], *arguments)


def status(field):
    """A line of what the kernel says about this process."""
    return next(line.split()[1] for line in open("/proc/self/status") if line.startswith(field + ":"))


def read(path):
    with open(path, "rb") as file:
        return file.read(64).decode()


def write(path, text):
    os.write(os.open(path, os.O_WRONLY | os.O_TRUNC), text.encode())


def send_udp(address):
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", (address, 53))


def connect(address, family=socket.AF_INET):
    with socket.socket(family) as one:
        one.settimeout(5)
        one.connect(address)


def outcome(attempt):
    try:
        return eval(attempt)
    except OSError as e:
        return errno.errorcode.get(e.errno, str(e))
    except Exception as e:
        return f"{type(e).__name__}: {e}"


print(json.dumps({attempt: outcome(attempt) for attempt in ATTEMPTS}))
