# Begins what a program can do that has found out the nonce.
import base64
import os

with open("/proc/1/cmdline", "rb") as words:
    NONCE = next(word for word in words.read().split(b"\0") if len(word) == 32 and word.isalnum())


def say(word, *streams):
    for stream in streams or (1,):
        os.write(stream, b"\036" + NONCE + b" " + (word if isinstance(word, bytes) else word.encode()) + b"\n")
