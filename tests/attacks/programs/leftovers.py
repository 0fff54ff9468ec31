import os

places = ("/sandbox", "/home/sandbox", "/tmp", "/var/tmp", "/dev/shm", "/run/sandbox-runner")
print("found:", [place for place in places if os.path.exists(f"{place}/left")])
for place in places:
    open(f"{place}/left", "w").close()
