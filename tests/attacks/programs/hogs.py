# Eight of them for a second. A second process of the host can only make the
# share smaller.
import os
import resource
import time

start = time.monotonic()
for _ in range(8):
    if os.fork() == 0:
        while time.monotonic() < start + 1:
            pass
        os._exit(0)
for _ in range(8):
    os.wait()
used = resource.getrusage(resource.RUSAGE_CHILDREN)
share = (used.ru_utime + used.ru_stime) / (time.monotonic() - start)
print("held" if share < 0.75 else share)
