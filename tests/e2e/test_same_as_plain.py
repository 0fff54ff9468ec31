"""A warm interpreter shows a program what the plain command shows it.

Every program runs twice, once with an interpreter that was started ahead of the
code and once with the plain command: stdout, stderr and how it ended must be
the same to the letter.
"""

import re

import pytest
from harness import Server

PYTHON = {
    "names": """\
print(sorted(globals()))
print(__name__, __file__, __package__, __spec__, __builtins__.__name__, __doc__)
import sys
print(sys.argv, sys.path, sys.orig_argv, sys.flags, sys.warnoptions)
print(sys._getframe().f_back, sys._getframe().f_code.co_filename, sys.excepthook, sys.displayhook)
""",
    "modules": "import sys; print(sorted(sys.modules), sorted(sys.path_importer_cache), len(sys.meta_path), len(sys.path_hooks))",
    "surroundings": """\
import os
print(sorted(os.environ.items()), os.getcwd(), os.listdir('.'), sorted(os.listdir('/proc/self/fd')))
print(os.getpid() > 1, os.getppid(), os.getuid(), os.getgroups(), os.umask(0))
import resource
print([(n, resource.getrlimit(getattr(resource, n)))
       for n in ('RLIMIT_NOFILE', 'RLIMIT_NPROC', 'RLIMIT_CORE', 'RLIMIT_FSIZE')])
""",
    "children": """\
import subprocess, sys
for words in (['env'], [sys.executable, '-c', 'import sys; print(sys.argv, sys.path)']):
    print(subprocess.run(words, capture_output=True, text=True).stdout)
""",
    "source": """\
import inspect, sys
print(open(__file__).read())


def f():
    pass


print(inspect.getsource(f), inspect.stack()[0].filename, len(inspect.stack()))
""",
    "imports": """\
from importlib.machinery import PathFinder


class Hook:
    find = PathFinder.find_spec


print(Hook().find('json').name, PathFinder().find_spec('json').name)
open('neighbour.py', 'w').write('print(__name__, __file__)')
import neighbour
import sitecustomize
""",
    "traceback": """\
def f():
    return 1 / 0


def g():
    f()


try:
    g()
except ZeroDivisionError as e:
    raise ValueError('y') from e
""",
    "traceback of an import": "import no_such_module",
    "syntax error": "print(1)\nif True print(2)",
    "indentation": "if True:\nprint(1)",
    "not UTF-8 declared": "# -*- coding: latin-1 -*-\nprint('\u00e9')",
    "byte order mark, carriage returns, unicode, no newline at the end":
        "\ufeffprint('bom')\r\nprint('\u20ac \U0001F600', ascii('\u00e9'))\r\nprint('end', end='')",
    "streams": """\
import sys
print(sys.stdout.encoding, sys.stderr.encoding, sys.getfilesystemencoding(), sys.stdout.errors)
print(sys.stdout.line_buffering, sys.stdout.write_through, sys.stdin.fileno(), sys.stdin.isatty())
for i in range(5):
    print(i)
    print(i, file=sys.stderr)
try:
    input()
except EOFError as e:
    print('EOF', e)
print(repr(sys.stdin.read()))
""",
    "exit with a text": "import sys; sys.exit('bye')",
    "exit with nothing": "raise SystemExit",
    "exit at once": "import os; print('x'); os._exit(9)",
    "atexit": "import atexit; atexit.register(print, 'last'); print('first'); raise SystemExit(3)",
    "warnings": "import warnings; warnings.warn('careful')\nwarnings.warn('old', DeprecationWarning)",
    "signals": """\
import os, signal
print([(s, signal.getsignal(s)) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGQUIT, signal.SIGHUP)])
print(signal.pthread_sigmask(signal.SIG_BLOCK, []))
try:
    os.kill(os.getpid(), signal.SIGINT)
    signal.pause()
except KeyboardInterrupt:
    print('caught')
""",
    "interrupted": "import os, signal; os.kill(os.getpid(), signal.SIGINT)",
    "terminated": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "segmentation fault": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "aborted": "import os; os.abort()",
    "threads": """\
import threading
for work in (print, lambda: 1 / 0):
    t = threading.Thread(target=work, name='T')
    t.start()
    t.join()
print(threading.main_thread().name, threading.active_count())
""",
    "multiprocessing": """\
import multiprocessing as m


def f(x):
    import sys
    return x * 2, sys.argv, __name__


if __name__ == '__main__':
    for how in ('fork', 'spawn'):
        with m.get_context(how).Pool(1) as p:
            print(p.map(f, [1]))
""",
    "asyncio": "import asyncio\n\n\nasync def main():\n    await asyncio.sleep(0)\n    print('async')\n    raise RuntimeError('x')\n\nasyncio.run(main())",
    "deep recursion": """\
import sys


def f(n):
    return f(n + 1)


print(sys.getrecursionlimit())
try:
    f(0)
except RecursionError as e:
    print(e)
""",
    "libraries": """\
import random; random.seed(1); print(random.random())
import numpy; print(numpy.arange(3), numpy.__name__)
import matplotlib
import matplotlib.pyplot as plt
plt.figure()
print(matplotlib.get_backend())
plt.close()
""",
    "excepthook": "import sys; sys.excepthook = lambda *a: print('mine', a[1])\n1 / 0",
}

JAVASCRIPT = {
    "names": """\
console.log(process.getActiveResourcesInfo(), Object.keys(require.cache))
console.log(process.argv, process.execArgv, process.argv0, process.execPath, process.title)
console.log(__filename, __dirname, module.id, module.paths, require.main === module, module.children.length)
console.log(Object.getOwnPropertyNames(globalThis).sort().join())
x = 1; console.log(this === module.exports, x)
console.log(process.version, process.release.name, process.features)
function f() { return new Error('e').stack; }
console.log(f())
""",
    "surroundings": """\
const fs = require('fs');
console.log(fs.readdirSync('/proc/self/fd').length, fs.readdirSync('.'));
console.log(process.cwd(), require('os').homedir(), require('os').tmpdir());
console.log(Object.entries(process.env).sort());
console.log(require('child_process').execFileSync('env').toString());
console.log(typeof fs.readFileSync, require.resolve('@google/genai'));
fs.writeFileSync('n.js', 'module.exports = __filename'); console.log(require('./n'));
""",
    "require of nothing": "require('no-such-module')",
    "import": "import fs from 'fs'; import { join } from 'node:path'; console.log(typeof fs.readFileSync, join('a', 'b'), import.meta.url)",
    "dynamic import": "import('node:os').then(os => console.log(typeof os.cpus))",
    "top-level await": "const v = await Promise.resolve(5); console.log(v)",
    "syntax error": "console.log(1)\nlet x = ;",
    "uncaught error": "function f() {\n  throw new Error('x');\n}\nf();",
    "uncaught in a timer": "setTimeout(() => { throw new TypeError('late'); }, 5)",
    "throws a string": "throw 'text'",
    "unhandled rejection": "Promise.reject(new Error('nobody cares'))",
    "rejection with a value": "Promise.reject(42)",
    "error in a module": "import 'fs'; null.x",
    "exit": """\
process.on('exit', c => console.log('exit', c)); process.on('beforeExit', () => console.log('before'));
process.exitCode = 4; console.log('x')
""",
    "exit with a number": "process.exit(7)",
    "terminated": "process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 1000)",
    "interrupted": "process.kill(process.pid, 'SIGINT'); setTimeout(() => {}, 1000)",
    "caught signal": "process.on('SIGINT', () => { console.log('caught'); process.exit(0); }); process.kill(process.pid, 'SIGINT'); setTimeout(() => {}, 1000)",
    "aborted": "process.abort()",
    "stdin": "process.stdin.on('data', d => console.log('data', d)).on('end', () => console.log('end'))",
    "streams": """\
console.log(require('fs').readFileSync(0).length, process.stdout.isTTY, process.stderr.isTTY);
for (let i = 0; i < 5; i++) { console.log(i); console.error(i); }
process.on('warning', w => console.log(w.name, w.message)); process.emitWarning('careful');
process.stdout.write('\u20ac \U0001F600, no newline')
""",
    "worker": "const { Worker, isMainThread, parentPort } = require('worker_threads');\nif (isMainThread) new Worker(__filename).on('message', m => console.log('got', m)).on('exit', c => console.log('exit', c));\nelse parentPort.postMessage([process.argv.length, Object.keys(require.cache).length]);",
    "fork": "const cp = require('child_process');\nif (process.send) { process.send(process.execArgv); process.disconnect(); } else cp.fork(__filename).on('message', m => console.log(m)).on('exit', c => console.log(c));",
}

COMPARED = ("exit_code", "signal", "stdout", "stderr", "timed_out")


# What modules could change that were imported ahead.
PRELOADED = ("names", "surroundings", "traceback", "atexit", "warnings", "signals", "threads", "multiprocessing",
             "excepthook", "libraries")


def serve_each(engine, *each):
    servers = [Server(engine, *options, pool=1) for options in each]
    yield servers
    for server in servers:
        try:
            server.close()
        finally:
            server.discard()


@pytest.fixture(scope="module")
def both(podman):
    yield from serve_each(podman, ("--interpreter", "warm"), ("--interpreter", "plain"))


@pytest.fixture
def preloaded(podman):
    yield from serve_each(podman, ("--preload", "numpy,pandas,matplotlib.pyplot"), ("--interpreter", "plain"))


def facts(result):
    """Without the process number, which node puts into its warnings."""
    return {key: re.sub(r"^\(node:\d+\)", "(node)", result[key], flags=re.M) if key == "stderr" else result[key]
            for key in COMPARED}


def compare(both, code, tool):
    idents = [(server, server.start("tools/call", {"name": tool, "arguments": {"code": code}})) for server in both]
    warm, plain = [server.wait(ident)["result"]["structuredContent"] for server, ident in idents]
    assert facts(warm) == facts(plain), code


@pytest.mark.parametrize("name", PYTHON)
def test_python(both, name):
    compare(both, PYTHON[name], "run_python_code")


def test_preloaded_python(preloaded):
    for name in PRELOADED:
        compare(preloaded, PYTHON[name], "run_python_code")


@pytest.mark.parametrize("name", JAVASCRIPT)
def test_javascript(both, name):
    compare(both, JAVASCRIPT[name], "run_js_code")
