# The runner keeps there what tells it a death by signal from an exit status.
import os
import signal

try:
    with open("/run/sandbox-runner/full", "wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))
except OSError as e:
    print(e.strerror)
os.kill(os.getpid(), signal.SIGSEGV)
