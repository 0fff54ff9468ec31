import os
import tempfile

with tempfile.TemporaryDirectory() as directory, tempfile.NamedTemporaryFile("w+", dir=directory) as file:
    file.write("text")
    file.seek(0)
    print(file.read(), os.path.exists(file.name))
