import io
import os

import matplotlib.pyplot as plt

plt.plot([1, 2, 3])
plt.title("a title")
memory = io.BytesIO()
plt.savefig(memory)
plt.savefig("plot.png")
with open("plot.png", "rb") as file:
    print(memory.getvalue()[1:4].decode(), file.read(4)[1:].decode(), os.path.getsize("plot.png") > 1000)
