"""A warm interpreter shows a program what the plain command shows it.

Every program runs twice, once with an interpreter that was started ahead of the
code and once with the plain command: stdout, stderr and how it ended must be
the same to the letter.
"""

import re

import pytest
from harness import Server

PYTHON = {
    "names": "print(__name__, __file__, __package__, __spec__, __builtins__.__name__, __doc__)",
    "globals": "print(sorted(globals()))",
    "argv and path": "import sys; print(sys.argv, sys.path, sys.orig_argv, sys.flags, sys.warnoptions)",
    "modules": "import sys; print(sorted(sys.modules))",
    "importers": "import sys; print(sorted(sys.path_importer_cache), len(sys.meta_path), len(sys.path_hooks))",
    "environment": "import os; print(sorted(os.environ.items()))",
    "environment of a child": "import subprocess; print(subprocess.run(['env'], capture_output=True, text=True).stdout)",
    "working directory": "import os; print(os.getcwd(), os.listdir('.'))",
    "files that are open": "import os; print(sorted(os.listdir('/proc/self/fd')))",
    "traceback": "def f():\n    return 1 / 0\n\n\ndef g():\n    f()\n\n\ng()",
    "traceback of a cause": "try:\n    {}['x']\nexcept KeyError as e:\n    raise ValueError('y') from e",
    "traceback of an import": "import no_such_module",
    "syntax error": "print(1)\nif True print(2)",
    "indentation": "if True:\nprint(1)",
    "not UTF-8 declared": "# -*- coding: latin-1 -*-\nprint('\u00e9')",
    "byte order mark": "\ufeffprint('bom')",
    "carriage returns": "print(1)\r\nprint(2)\r\n",
    "no newline at the end": "print('end', end='')",
    "unicode": "print('\u20ac \U0001F600', ascii('\u00e9'))",
    "encodings": "import sys; print(sys.stdout.encoding, sys.stderr.encoding, sys.getfilesystemencoding(), sys.stdout.errors)",
    "buffering": "import sys; print(sys.stdout.line_buffering, sys.stdout.write_through)",
    "order of the streams": "import sys\nfor i in range(5):\n    print(i)\n    print(i, file=sys.stderr)",
    "input": "try:\n    input()\nexcept EOFError as e:\n    print('EOF', e)",
    "stdin": "import sys; print(repr(sys.stdin.read()), sys.stdin.fileno(), sys.stdin.isatty())",
    "exit with a number": "import sys; sys.exit(7)",
    "exit with a text": "import sys; sys.exit('bye')",
    "exit with nothing": "raise SystemExit",
    "exit at once": "import os; print('x'); os._exit(9)",
    "atexit": "import atexit; atexit.register(print, 'last'); print('first'); raise SystemExit(3)",
    "warnings": "import warnings; warnings.warn('careful')\nwarnings.warn('old', DeprecationWarning)",
    "signals": "import signal; print([(s, signal.getsignal(s)) for s in (signal.SIGINT, signal.SIGTERM, signal.SIGPIPE, signal.SIGQUIT, signal.SIGHUP)])",
    "blocked signals": "import signal; print(signal.pthread_sigmask(signal.SIG_BLOCK, []))",
    "interrupted": "import os, signal; os.kill(os.getpid(), signal.SIGINT)",
    "caught interrupt": "import os, signal\ntry:\n    os.kill(os.getpid(), signal.SIGINT)\n    signal.pause()\nexcept KeyboardInterrupt:\n    print('caught')",
    "terminated": "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
    "segmentation fault": "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)",
    "aborted": "import os; os.abort()",
    "threads": "import threading; t = threading.Thread(target=print, args=('t',)); t.start(); t.join(); print(threading.main_thread().name, threading.active_count())",
    "exception in a thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='T')\nt.start()\nt.join()",
    "multiprocessing fork": "import multiprocessing as m\nc = m.get_context('fork')\nif __name__ == '__main__':\n    with c.Pool(2) as p:\n        print(p.map(abs, [-1, -2]))",
    "multiprocessing spawn": "import multiprocessing as m\n\n\ndef f(x):\n    import sys\n    return x * 2, sys.argv, __name__\n\n\nif __name__ == '__main__':\n    c = m.get_context('spawn')\n    with c.Pool(1) as p:\n        print(p.map(f, [1]))",
    "asyncio": "import asyncio\n\n\nasync def main():\n    await asyncio.sleep(0)\n    print('async')\n    raise RuntimeError('x')\n\nasyncio.run(main())",
    "subprocess of python": "import subprocess, sys; print(subprocess.run([sys.executable, '-c', 'import sys; print(sys.argv, sys.path)'], capture_output=True, text=True).stdout)",
    "import of a neighbour": "open('neighbour.py', 'w').write('print(__name__, __file__)')\nimport neighbour",
    "its own source": "print(open(__file__).read())",
    "inspect": "import inspect\n\n\ndef f():\n    pass\n\n\nprint(inspect.getsource(f), inspect.stack()[0].filename, len(inspect.stack()))",
    "finder as an attribute": "from importlib.machinery import PathFinder\n\n\nclass Hook:\n    find = PathFinder.find_spec\n\n\nprint(Hook().find('json').name, PathFinder().find_spec('json').name)",
    "backend of matplotlib": "import matplotlib\nimport matplotlib.pyplot as plt\nplt.figure()\nprint(matplotlib.get_backend())\nplt.close()",
    "frames": "import sys; print(sys._getframe().f_back, sys._getframe().f_code.co_filename)",
    "deep recursion": "import sys\n\n\ndef f(n):\n    return f(n + 1)\n\n\nprint(sys.getrecursionlimit())\ntry:\n    f(0)\nexcept RecursionError as e:\n    print(e)",
    "limits": "import resource; print([(n, resource.getrlimit(getattr(resource, n))) for n in ('RLIMIT_NOFILE', 'RLIMIT_NPROC', 'RLIMIT_CORE', 'RLIMIT_FSIZE')])",
    "process": "import os; print(os.getpid() > 1, os.getppid(), os.getuid(), os.getgroups(), os.umask(0))",
    "random is seeded anew": "import random; random.seed(1); print(random.random())",
    "excepthook": "import sys; print(sys.excepthook, sys.displayhook)\nsys.excepthook = lambda *a: print('mine', a[1])\n1 / 0",
    "help of a module": "import sitecustomize; print(sitecustomize.__name__)",
    "numpy": "import numpy; print(numpy.arange(3), numpy.__name__)",
}

JAVASCRIPT = {
    "arguments": "console.log(process.argv, process.execArgv, process.argv0, process.execPath, process.title)",
    "names": "console.log(__filename, __dirname, module.id, module.paths, require.main === module, module.children.length)",
    "environment": "console.log(Object.entries(process.env).sort())",
    "environment of a child": "console.log(require('child_process').execFileSync('env').toString())",
    "cache": "console.log(Object.keys(require.cache))",
    "files that are open": "console.log(require('fs').readdirSync('/proc/self/fd').length, require('fs').readdirSync('.'))",
    "require": "console.log(typeof require('fs').readFileSync, require.resolve('@google/genai'))",
    "require of a neighbour": "require('fs').writeFileSync('n.js', 'module.exports = __filename'); console.log(require('./n'))",
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
    "exit with a number": "process.exit(7)",
    "exit code": "process.exitCode = 4; console.log('x')",
    "exit handlers": "process.on('exit', c => console.log('exit', c)); process.on('beforeExit', () => console.log('before'))",
    "signals": "process.kill(process.pid, 'SIGTERM'); setTimeout(() => {}, 1000)",
    "interrupted": "process.kill(process.pid, 'SIGINT'); setTimeout(() => {}, 1000)",
    "caught signal": "process.on('SIGINT', () => { console.log('caught'); process.exit(0); }); process.kill(process.pid, 'SIGINT'); setTimeout(() => {}, 1000)",
    "aborted": "process.abort()",
    "stdin": "process.stdin.on('data', d => console.log('data', d)).on('end', () => console.log('end'))",
    "stdin at once": "console.log(require('fs').readFileSync(0).length)",
    "streams": "console.log(process.stdout.isTTY, process.stderr.isTTY); process.stdout.write('no newline')",
    "both streams": "for (let i = 0; i < 5; i++) { console.log(i); console.error(i); }",
    "unicode": "console.log('\u20ac \U0001F600')",
    "warnings": "process.on('warning', w => console.log(w.name, w.message)); process.emitWarning('careful')",
    "worker": "const { Worker, isMainThread, parentPort } = require('worker_threads');\nif (isMainThread) new Worker(__filename).on('message', m => console.log('got', m)).on('exit', c => console.log('exit', c));\nelse parentPort.postMessage([process.argv.length, Object.keys(require.cache).length]);",
    "fork": "const cp = require('child_process');\nif (process.send) { process.send(process.execArgv); process.disconnect(); } else cp.fork(__filename).on('message', m => console.log(m)).on('exit', c => console.log(c));",
    "strictness": "x = 1; console.log(this === module.exports, x)",
    "globals": "console.log(Object.getOwnPropertyNames(globalThis).sort().join())",
    "stack of a function": "function f() { return new Error('e').stack; }\nconsole.log(f())",
    "versions": "console.log(process.version, process.release.name, process.features)",
    "directory": "console.log(process.cwd(), require('os').homedir(), require('os').tmpdir())",
    "handles": "console.log(process.getActiveResourcesInfo())",
}

COMPARED = ("exit_code", "signal", "stdout", "stderr", "timed_out")


# What modules could change that were imported ahead.
PRELOADED = ("names", "globals", "argv and path", "files that are open", "traceback", "traceback of an import",
             "exit at once", "atexit", "warnings", "signals", "interrupted", "threads", "multiprocessing fork",
             "multiprocessing spawn", "asyncio", "subprocess of python", "excepthook", "frames", "numpy")


def serve_each(engine, *each):
    servers = [Server(engine, *options, pool=2) for options in each]
    yield servers
    for server in servers:
        try:
            server.close()
        finally:
            server.discard()


@pytest.fixture(scope="module")
def both(podman):
    yield from serve_each(podman, ("--interpreter", "warm"), ("--interpreter", "plain"))


@pytest.fixture(scope="module")
def preloaded(podman):
    yield from serve_each(podman, ("--preload", "numpy,pandas,matplotlib.pyplot"), ("--interpreter", "plain"))


def facts(result):
    """Without the process number, which node puts into its warnings."""
    return {key: re.sub(r"^\(node:\d+\)", "(node)", result[key], flags=re.M) if key == "stderr" else result[key]
            for key in COMPARED}


def compare(both, code, tool):
    idents = [(server, server.start("tools/call", {"name": tool, "arguments": {"code": code}})) for server in both]
    warm, plain = [server.wait(ident)["result"]["structuredContent"] for server, ident in idents]
    assert facts(warm) == facts(plain)


@pytest.mark.parametrize("name", PYTHON)
def test_python(both, name):
    compare(both, PYTHON[name], "run_python_code")


@pytest.mark.parametrize("name", PRELOADED)
def test_preloaded_python(preloaded, name):
    compare(preloaded, PYTHON[name], "run_python_code")


@pytest.mark.parametrize("name", JAVASCRIPT)
def test_javascript(both, name):
    compare(both, JAVASCRIPT[name], "run_js_code")
