import errno
import os

held = []
try:
    while True:
        held.append(os.dup(0))
except OSError as e:
    print(errno.errorcode[e.errno], "at", held[-1] + 1)
