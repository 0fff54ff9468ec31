# What of the file system it could write to, and programs that would run as
# another user.
import os
import stat
import subprocess

FIND = "find / -path /proc -prune -o ( -type f -perm /6000 -o -type d,f -writable ) -print -prune"

found = subprocess.run(FIND.split(), capture_output=True, text=True).stdout.splitlines()
print(*sorted(path for path in found if not stat.S_ISCHR(os.stat(path).st_mode)))
