# Small files, so that it is not the size of one that ends it.
import errno
import os


def fill(place):
    number, left = 0, []
    try:
        while True:
            left.append(f"{place}/fill-{number}")
            with open(left[-1], "wb", buffering=0) as file:
                for _ in range(16):
                    if file.write(bytes(1 << 20)) < 1 << 20:
                        file.write(b"x")
            number += 1
    except OSError as e:
        return errno.errorcode[e.errno], left


for place in ("/tmp", "/dev/shm", "/var/tmp", "/run/sandbox-runner", "/sandbox", "/home/sandbox", "/run"):
    reason, left = fill(place)
    if reason == "ENOSPC":
        found = os.statvfs(place)
        print(place, reason, found.f_blocks * found.f_frsize >> 20)
        for name in left:
            os.remove(name)
    else:
        print(place, reason)
