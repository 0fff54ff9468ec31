# Pictures for the caller, in the order in which they are drawn.
import os
import shutil
import sys

DIRECTORY = "/home/sandbox/.sandbox/figures"
MAXIMUM = 20
# Bytes of a file that comes back unasked (see collector.c).
RETURNED = 1 << 16
RETURNED_IMAGE = 1 << 20
IMAGES = (".png", ".jpg", ".jpeg", ".svg", ".gif", ".webp")
count = 0
work = None


def keep(picture, suffix):
    global count
    count += 1
    if count == MAXIMUM + 1:
        print(f"Only the first {MAXIMUM} figures are shown.", file=sys.stderr)
    if count > MAXIMUM:
        return
    os.makedirs(DIRECTORY, exist_ok=True)
    with open(f"{DIRECTORY}/figure-{count:02}.{suffix}", "wb") as target:
        target.write(picture)


# Whether a file of this name comes back by itself: hidden ones, and those
# elsewhere, do not.
def is_returned(path):
    path = os.path.realpath(path)
    limit = RETURNED_IMAGE if path.lower().endswith(IMAGES) else RETURNED
    return ("/." not in "/" + os.path.relpath(path, work)
            and os.path.isfile(path) and os.path.getsize(path) <= limit)


# What there is in a file of this name, if it is a picture that can be shown.
def read_png(path):
    try:
        if not os.path.isfile(path) or os.path.getsize(path) > RETURNED_IMAGE:
            return None
        with open(path, "rb") as source:
            picture = source.read(RETURNED_IMAGE)
    except OSError:
        return None
    return picture if picture.startswith(b"\x89PNG\r\n\x1a\n") else None


def forget():
    global count
    count = 0
    shutil.rmtree(DIRECTORY, ignore_errors=True)
