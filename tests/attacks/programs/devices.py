import os
import stat

found = []
for directory, _, files in os.walk("/dev"):
    for name in files:
        mode = os.lstat(os.path.join(directory, name)).st_mode
        if stat.S_ISBLK(mode) or stat.S_ISCHR(mode):
            found.append(name)
print(*sorted(found))
