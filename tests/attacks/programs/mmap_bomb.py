# Shared, so it is no process's own.
import mmap

memory = mmap.mmap(-1, 1 << 30)
for page in range(0, len(memory), mmap.PAGESIZE):
    memory[page] = 1
print("all of it")
