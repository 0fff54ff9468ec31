import os
import sys

child = os.fork()
if child == 0:
    sys.stderr = open("/dev/null", "w")
    hoard = []
    while True:
        hoard.append(b"x" * (1 << 24))
status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
print(f"child: {status}, parent goes on")
