"""What the numbers were measured on: without it they say nothing."""

import os
import platform
import subprocess
from pathlib import Path

from client import find
from measure import HOST


def fact(file, name):
    """The first value of that name in a file of lines NAME : VALUE."""
    for line in Path(file).read_text(encoding="utf-8").splitlines():
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return None


def version(argv):
    return subprocess.run(argv, capture_output=True, text=True, check=True).stdout.strip()


def describe(program, engines, load):
    one = engines[0]
    return {
        "measured": version([program, "--version"]),
        "CPU": f"{fact('/proc/cpuinfo', 'model name') or platform.machine()}, {os.cpu_count()} cores",
        "memory": f"{int(fact('/proc/meminfo', 'MemTotal').split()[0]) / 2**20:.0f} GB",
        "system": f"{platform.freedesktop_os_release()['PRETTY_NAME']}, Linux {platform.release()}",
        "host": f"{version([find(HOST['python'][0]), '--version'])}, "
                f"Node.js {version([find(HOST['javascript'][0]), '--version'])}",
        "images": "Python " + one.output(one.bare("python", "import platform; print(platform.python_version())"))
                  + ", Node.js " + one.output(one.bare("javascript", "console.log(process.version)")),
        **{engine.name: engine.version() for engine in engines},
        "load before": f"{load:.1f}",
    }
