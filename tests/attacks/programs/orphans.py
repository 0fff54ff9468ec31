# More than there may be processes: each is left to process 1, which must wait
# for it.
import os

for _ in range(400):
    if os.fork() == 0:
        os.fork()
        os._exit(0)
    os.wait()
print("400 orphans")
