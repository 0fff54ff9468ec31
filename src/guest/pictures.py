# Pictures for the caller, in the order in which they are drawn.
import os
import shutil
import stat
import sys

DIRECTORY = "/home/sandbox/.sandbox/figures"
MAXIMUM = 20
# Bytes of a file that comes back unasked (see collector.c).
RETURNED = 1 << 16
RETURNED_IMAGE = 1 << 20
IMAGES = (".png", ".jpg", ".jpeg", ".svg", ".gif", ".webp")
count = 0
work = None


# Children of the program keep pictures too: each takes the next free number.
def keep(picture, suffix):
    global count
    os.makedirs(DIRECTORY, exist_ok=True)
    while count <= MAXIMUM:
        count += 1
        if count > MAXIMUM:
            print(f"Only the first {MAXIMUM} figures are shown.", file=sys.stderr)
            return
        try:
            with open(f"{DIRECTORY}/figure-{count:02}.{suffix}", "xb") as target:
                target.write(picture)
            return
        except FileExistsError:
            pass


# Whether a file of this name comes back by itself: hidden ones, and those
# elsewhere, do not.
def is_returned(path):
    path = os.path.realpath(path)
    limit = RETURNED_IMAGE if path.lower().endswith(IMAGES) else RETURNED
    return ("/." not in "/" + os.path.relpath(path, work)
            and os.path.isfile(path) and os.path.getsize(path) <= limit)


# By which a file is known again, if it is one.
def stamp_of(path):
    try:
        status = os.stat(path)
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return status.st_size, status.st_dev, status.st_ino, status.st_mtime_ns


# What is in a file, if it is a picture that can be shown, and nobody has
# touched it since it had this stamp.
def read_png(path, stamp):
    if not stamp or stamp[0] > RETURNED_IMAGE or stamp_of(path) != stamp:
        return None
    try:
        with open(path, "rb") as source:
            picture = source.read(RETURNED_IMAGE + 1)
    except OSError:
        return None
    whole = len(picture) == stamp[0] and stamp_of(path) == stamp
    return picture if whole and picture.startswith(b"\x89PNG\r\n\x1a\n") else None


def forget():
    global count
    count = 0
    shutil.rmtree(DIRECTORY, ignore_errors=True)
