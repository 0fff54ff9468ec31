# Where it may write, and how that is mounted; and what else there is of the
# host: directories, and not the files that tell a container its name.
import os

SYSTEM = ("proc", "sysfs", "cgroup", "cgroup2")

lines = []
for line in open("/proc/self/mountinfo"):
    fields, _, source = line.partition(" - ")
    _, _, _, root, point, options = fields.split()[:6]
    kept = {"nosuid", "nodev", "noexec"} & set(options.split(","))
    if os.path.isdir(point) and os.access(point, os.W_OK):
        lines.append(" ".join([point, *sorted(kept)]))
    elif os.path.isdir(point) and root != "/" and source.split()[0] not in SYSTEM:
        lines.append(f"{point} is the host's {root}")
print(*sorted(lines), sep="\n")
