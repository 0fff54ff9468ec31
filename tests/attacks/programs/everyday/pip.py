# A package with a command, made by hand and installed, used both ways.
import subprocess
import sys
import zipfile

WHEEL = "/tmp/answer-1.0-py3-none-any.whl"
FILES = {
    "answer.py": "value = 42\ndef main(): print('6 * 7 =', value)\n",
    "answer-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: answer\nVersion: 1.0\n",
    "answer-1.0.dist-info/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    "answer-1.0.dist-info/entry_points.txt": "[console_scripts]\nanswer = answer:main\n",
    "answer-1.0.dist-info/RECORD": "",
}

with zipfile.ZipFile(WHEEL, "w") as wheel:
    for name, text in FILES.items():
        wheel.writestr(name, text)
subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-index", WHEEL], check=True)
subprocess.run(["answer"], check=True)
import answer  # noqa: E402

print(answer.value)
