import errno
import os

for place in ("/tmp", "/var/tmp", "/dev/shm"):
    path = f"{place}/x"
    with open(path, "w") as file:
        file.write("#!/bin/sh\n")
    os.chmod(path, 0o755)
    try:
        os.execv(path, [path])
    except OSError as e:
        print(errno.errorcode[e.errno])
