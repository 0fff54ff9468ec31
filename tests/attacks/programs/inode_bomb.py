# Empty files: they take no block of the file system.
import os

number = 0
while True:
    os.close(os.open(f"/tmp/{number}", os.O_CREAT))
    number += 1
