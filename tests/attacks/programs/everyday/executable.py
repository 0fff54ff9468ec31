import os
import shutil
import subprocess

for place in ("/sandbox", os.environ["HOME"]):
    tool = shutil.copy("/bin/echo", f"{place}/tool")
    subprocess.run([tool, "ran in", place])
