# In its own environment and in that of every process it can see, on their
# command lines, and in what the engine put beside the program.
import glob

found = []
for pattern in ("/proc/*/environ", "/proc/*/cmdline", "/run/**", "/etc/**"):
    for path in glob.glob(pattern, recursive=True):
        try:
            with open(path, "rb") as file:
                if b"n0t-for-" + b"programs" in file.read():
                    found.append(path)
        except OSError:
            pass
print(*found or ["nothing"])
