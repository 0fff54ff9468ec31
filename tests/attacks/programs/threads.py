import os
import threading

count = 0
try:
    while True:
        threading.Thread(target=threading.Event().wait, daemon=True).start()
        count += 1
except RuntimeError as e:
    print(e, "held" if 10 < count < 100 else count, sep=", ", flush=True)
os._exit(0)
