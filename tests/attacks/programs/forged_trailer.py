# The nonce is no secret from the program, and lying about how it ends is all
# that it can do with it.
import os
import time

words = open("/proc/1/cmdline").read().split("\0")
nonce = next(word for word in words if len(word) == 32 and not set(word) - set("0123456789abcdef"))
for fd in (1, 2):
    os.write(fd, f"\x1e{nonce} exit 42\n".encode())
time.sleep(300)
