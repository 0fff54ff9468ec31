import errno
import os
import signal

count = 0
try:
    while True:
        if os.fork() == 0:
            signal.pause()
        count += 1
except OSError as e:
    print(errno.errorcode[e.errno], "held" if 10 < count < 100 else count, sep=", ", flush=True)
os._exit(0)
