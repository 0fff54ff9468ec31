"""The scripts that people begin with: demo, images and setup."""

import json
import os
import platform
import shlex
import shutil
import subprocess

import pytest
from harness import ROOT, write_program

SCRIPTS = ROOT / "scripts"
CODENAME = platform.freedesktop_os_release()["VERSION_CODENAME"]


def run_script(*words, **env):
    return subprocess.run([SCRIPTS / words[0], *words[1:]], env={**os.environ, **env}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=100)


# --- demo ------------------------------------------------------------------------


def run_demo(engine, directory):
    """It takes a program without arguments; so that brings the engine along."""
    env = [f"{name}={value}" for name, value in engine.environment().items()]
    program = write_program(directory / "server", f"#!/bin/sh\nexec {shlex.join(['env', *env, *engine.command()])}\n")
    return program, run_script("demo", program)


def test_demo(podman, tmp_path):
    program, done = run_demo(podman, tmp_path)
    assert done.returncode == 0, done.stderr
    assert 'print("Python"' in done.stdout
    assert r'"text":"Python 3.13.' in done.stdout and r'"text":"Node v24.' in done.stdout
    [stanza] = [line for line in done.stdout.splitlines() if "mcpServers" in line]
    assert json.loads(stanza)["mcpServers"]["code-sandbox"]["command"] == str(program)


@pytest.mark.parametrize(("broken", "tool"), [("python3", "run_python_code"), ("node", "run_js_code")])
def test_demo_of_a_tool_that_fails(fake, tmp_path, broken, tool):
    """A program that ran and failed is no error of the server's."""
    engine = fake()
    for name in ("python3", "node"):
        (engine.bin / name).unlink()
        write_program(engine.bin / name, f"#!/bin/sh\nexit {3 if name == broken else 0}\n")
    _, done = run_demo(engine, tmp_path)
    assert done.returncode == 1
    assert "this call did not work" in done.stderr
    assert "Both tools work" not in done.stdout
    assert done.stdout.rpartition("\n--> ")[2].startswith(tool)
    assert '"isError":false' in done.stdout.splitlines()[-1] and '"exit_code":3,' in done.stdout.splitlines()[-1]


# --- images ----------------------------------------------------------------------

# Takes notes of what it is asked, and remembers images by name and labels.
ENGINE = r"""#!/usr/bin/python3
import json, os, re, sys
from pathlib import Path

state, words = Path(os.environ["STUB_STATE"]), sys.argv[1:]
images = json.loads((state / "images").read_text()) if (state / "images").exists() else {}
with (state / "log").open("a") as log:
    log.write(json.dumps(words) + "\n")

def add(name, labels):
    (state / "images").write_text(json.dumps({**images, name: labels}))

def values(flag):
    return [after for before, after in zip(words, words[1:]) if before == flag]

if words[0] == "--version":
    print("podman version 5.4.2")
elif words[0] == "manifest":
    sys.exit("registry" not in os.environ["STUB_REACHES"])
elif words[0] == "run":
    sys.exit("pip" not in os.environ["STUB_REACHES"])
elif words[0] == "import":
    add(words[-1], {})
elif words[0] == "build":
    add(*values("--tag"), dict(label.split("=", 1) for label in values("--label")))
elif words[:2] == ["image", "inspect"]:
    if words[-1] not in images:
        sys.exit(1)
    for name in re.findall('Labels "(.*)"', words[-2]):
        print(images[words[-1]].get(name, ""))
"""
MMDEBSTRAP = """#!/bin/sh
for word; do
	case $word in
	--include=*) echo "${word#*=}" >>"$STUB_STATE/roots" ;;
	*/root.tar) : >"$word" ;;
	esac
done
"""
NPM = """#!/bin/sh
while [ "$1" != --prefix ]; do shift; done
mkdir -p "$2/node_modules/node/bin" "$2/node_modules/npm"
: >"$2/node_modules/node/bin/node"
"""
PYTHON, JS = "docker.io/philschmi/code-sandbox-python:latest", "docker.io/philschmi/code-sandbox-js:latest"


class Images:
    """scripts/images on a machine where nothing is real."""

    def __init__(self, directory):
        self.state = directory / "state"
        self.bin = directory / "bin"
        self.state.mkdir()
        self.bin.mkdir()
        for name, text in (("podman", ENGINE), ("mmdebstrap", MMDEBSTRAP), ("npm", NPM)):
            write_program(self.bin / name, text)
        (directory / "sources.list").write_text(f"deb http://deb.example/mirror {CODENAME} main\n")
        self.env = {"PATH": f"{self.bin}:{os.environ['PATH']}", "STUB_STATE": str(self.state),
                    "CONTAINER_ENGINE": str(self.bin / "podman"), "APT_DIR": str(directory),
                    "XDG_CACHE_HOME": str(directory / "cache")}

    def make(self, *options, reaches=""):
        """What it said, and what it had the engine build."""
        (self.state / "log").unlink(missing_ok=True)
        done = run_script("images", *options, **self.env, STUB_REACHES=reaches)
        assert done.returncode == 0, done.stdout + done.stderr
        asked = map(json.loads, (self.state / "log").read_text().splitlines())
        return done.stdout, [words for words in asked if words[0] == "build"]

    def roots(self):
        """The packages of each root file system that was made."""
        return [line.split(",") for line in (self.state / "roots").read_text().splitlines()]


@pytest.fixture
def images(tmp_path):
    return Images(tmp_path)


def values(words, flag):
    return [after for before, after in zip(words, words[1:]) if before == flag]


def pairs(words, flag):
    return dict(value.split("=", 1) for value in values(words, flag))


REGISTRY, DEBIAN = "the official base image", "Debian trixie packages"
LEFT_OUT = "left out: google-genai (Debian has no package of it, and no Python package index could be reached"


@pytest.mark.parametrize(("options", "reaches", "base", "without"), [
    ([], "registry pip", REGISTRY, ""),
    ([], "registry", REGISTRY, ""),
    ([], "pip", DEBIAN, ""),
    ([], "", DEBIAN, "google-genai"),
    (["--base", "debian"], "registry pip", DEBIAN, ""),
    (["--base", "debian"], "registry", DEBIAN, "google-genai"),
    (["--base", "registry"], "", REGISTRY, ""),
])
def test_images(images, options, reaches, base, without):
    said, builds = images.make(*options, reaches=reaches)
    assert [values(words, "--tag") for words in builds] == [[PYTHON], [JS]]
    assert said.count(f"built on {base}") == 2
    assert ("cannot be fetched" in said) == (base == DEBIAN and not options)
    arguments = [pairs(words, "--build-arg") for words in builds]
    for kind, given in zip(("python", "js"), arguments):
        name, _, key = given.pop("BASE", "").partition(":")
        assert (name, bool(key)) == ((f"localhost/code-sandbox-base-{kind}", True) if base == DEBIAN else ("", False))
    # Without one the Dockerfile's own list counts, which is the whole one.
    assert arguments == [{"PACKAGES": "numpy pandas matplotlib scikit-learn requests"} if without else {}, {}]
    assert [pairs(words, "--label")["code-sandbox-mcp.without"] for words in builds] == [without, ""]
    assert (LEFT_OUT in said) == bool(without)


def test_images_are_built_once(images):
    images.make()
    said, builds = images.make(reaches="pip")
    assert builds == [] and said.count(": up to date") == 2
    assert LEFT_OUT in said and "--force tries again" in said
    said, builds = images.make("--force", reaches="pip")
    assert ["--no-cache" in words for words in builds] == [True, True]
    assert "up to date" not in said and "left out" not in said
    assert len(images.roots()) == 4


def test_images_of_all_languages(images):
    """TypeScript has that of JavaScript; seven others have one base."""
    _, builds = images.make("--languages", "all")
    others = [f"docker.io/library/code-sandbox-{name}:latest" for name in ("bash", "ruby", "go", "c", "cpp", "java", "r")]
    assert [values(words, "--tag") for words in builds] == [[tag] for tag in (PYTHON, JS, *others)]
    assert len({pairs(words, "--build-arg")["BASE"] for words in builds}) == 3
    python, js, rest = images.roots()
    assert "python3-numpy" in python and "libatomic1" in js and {"golang-go", "r-base-core"} <= set(rest)


def test_images_by_other_names(images):
    _, builds = images.make("--python-image", "host.example/mine:1", "--image", "bash=sh", "--languages", "python,bash")
    assert [values(words, "--tag") for words in builds] == [["host.example/mine:1"], ["docker.io/library/sh"]]


# --- setup -----------------------------------------------------------------------

ENTRY = "Types: deb\nURIs: http://deb.example/mirror\nSuites: new\nComponents: main contrib\n"
OTHER = f"deb http://other.example/mirror {CODENAME} main\n"


@pytest.mark.parametrize(("files", "expected"), [
    ({"sources.list.d/debian.sources": f"""\
Types: deb deb-src
# where it is
URIs: http://deb.example/mirror
Suites: {CODENAME} {CODENAME}-updates
Components: main contrib
Signed-By: /k.gpg

Types: deb
URIs: http://security.example/mirror
Suites: {CODENAME}-security
Components: main
"""}, ENTRY + "Signed-By: /k.gpg\n"),
    ({"sources.list.d/a.sources": f"""\
Types: deb
URIs: http://off.example/mirror
Suites: {CODENAME}
Components: main
Enabled: no

Types: deb-src
URIs: http://source.example/mirror
Suites: {CODENAME}
Components: main

Types: deb
URIs: http://deb.example/mirror
Suites: {CODENAME}-updates {CODENAME}
Components: main contrib
Enabled: yes
"""}, ENTRY + "Enabled: yes\n"),
    ({"sources.list": f"""\
# deb http://off.example/mirror {CODENAME} main
deb-src http://source.example/mirror {CODENAME} main
deb http://security.example/mirror {CODENAME}-security main
deb http://deb.example/mirror {CODENAME} main contrib # and no more
"""}, ENTRY),
    ({"sources.list.d/a.list": f"deb [arch=amd64,arm64 signed-by=/k.gpg] http://deb.example/mirror {CODENAME} main contrib\n"},
     ENTRY + "Architectures: amd64 arm64\nsigned-by: /k.gpg\n"),
    ({"sources.list.d/a.list": f"deb [ arch=amd64 ] http://deb.example/mirror {CODENAME} main contrib\n"},
     ENTRY + "Architectures: amd64\n"),
    ({"sources.list": "deb http://deb.example/mirror stable main contrib\n"}, ENTRY),
    ({"sources.list": f"deb http://deb.example/mirror {CODENAME} main contrib\n", "sources.list.d/other.list": OTHER}, ENTRY),
    ({"sources.list.d/debian.sources": ENTRY.replace("new", CODENAME), "sources.list.d/a.list": OTHER}, ENTRY),
], ids=["deb822", "deb822-turned-off", "one-line", "options", "spaced-options", "by-class", "beside-a-list",
        "beside-sources"])
def test_setup_source(tmp_path, files, expected):
    (tmp_path / "sources.list.d").mkdir()
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = run_script("setup", "source", "new", APT_DIR=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")


def test_setup_source_that_is_not_there(tmp_path):
    (tmp_path / "sources.list").write_text("deb http://other.example/mirror another-suite main\n")
    done = run_script("setup", "source", "new", APT_DIR=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"no Debian entry for '{CODENAME}' in {tmp_path}/sources.list" in done.stderr


# Takes notes; with some packages a program comes.
APT_GET = r"""#!/bin/sh
echo "$*" >>"$STUB_STATE/apt"
[ -z "$(ls /usr/sbin)" ] || echo "$(ls /usr/sbin) while: $*" >>"$STUB_STATE/policy"
case $* in
*" install "*) ;;
*) exit 0 ;;
esac
for word; do
	: >"$STUB_STATE/installed-$word"
	case $word in
	podman | runc | nodejs | npm) programs=$word ;;
	docker.io) programs=${STUB_DOCKER:-docker dockerd} ;;
	docker-cli) programs=docker ;;
	*) continue ;;
	esac
	for program in $programs; do
		ln -s /bin/true "$STUB_BIN/$program"
	done
	[ "$word" != "${STUB_STOPS:-}" ] || kill -TERM "$PPID"
done
"""
DPKG_QUERY = """#!/bin/sh
while [ $# -gt 1 ]; do shift; done
[ ! -e "$STUB_STATE/installed-$1" ] || echo installed
"""
TOOLS = ("sh", "cat", "chmod", "env", "grep", "id", "ln", "ls", "rm", "tee", "timeout")


class Setup:
    """scripts/setup on a machine where nothing is real: what it looks for on
    PATH is in a directory of its own, and /usr/sbin is another one."""

    def __init__(self, directory):
        self.state, self.bin, self.sbin = directory / "state", directory / "bin", directory / "sbin"
        for path in (self.state, self.bin, self.sbin):
            path.mkdir()
        for tool in TOOLS:
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.has("apt-get", APT_GET)
        self.has("dpkg-query", DPKG_QUERY)
        self.has("apt-cache", "#!/bin/sh\necho '  Candidate: 1'\n")
        self.has("node", "#!/bin/sh\necho 24\n")
        self.has("npm")

    def has(self, program, text="#!/bin/sh\n"):
        write_program(self.bin / program, text)

    def run(self, *words, **env):
        inside = 'mount --bind "$1" /usr/sbin && shift && PATH=$1 && shift && exec "$@"'
        return subprocess.run(["unshare", "--mount", "sh", "-c", inside, "sh", self.sbin, self.bin, SCRIPTS / "setup", *words],
                              env={**os.environ, "STUB_STATE": str(self.state), "STUB_BIN": str(self.bin), **env},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)

    def asked(self):
        """Packages, in the order in which they were asked for."""
        lines = [line.split() for line in (self.state / "apt").read_text().splitlines() if " install " in line]
        assert all("--no-remove" in words for words in lines), lines
        return [word for words in lines for word in words[words.index("install") + 1:] if not word.startswith("-")]


@pytest.fixture
def setup(tmp_path):
    return Setup(tmp_path)


def test_setup_beside_a_docker_of_another_maker(setup):
    """Its packages conflict with Debian's, which would have them removed."""
    for program in ("docker", "dockerd", "runc"):
        setup.has(program)
    done = setup.run("test")
    assert done.returncode == 0, done.stderr
    assert "podman" in setup.asked() and "valgrind" in setup.asked()
    assert not {"docker.io", "docker-cli", "runc"} & set(setup.asked())


@pytest.mark.parametrize(("brings", "more"), [("docker dockerd", []), ("dockerd", ["docker-cli"])],
                         ids=["with-its-client", "without"])
def test_setup_of_docker(setup, brings, more):
    """It is not started, and nothing is left of what sees to that."""
    done = setup.run("test", STUB_DOCKER=brings)
    assert done.returncode == 0, done.stderr
    assert [package for package in setup.asked() if package.startswith("docker")] == ["docker.io", *more]
    assert "policy-rc.d while: " in (setup.state / "policy").read_text()
    assert list(setup.sbin.iterdir()) == []
    before = setup.asked()
    assert setup.run("test").returncode == 0
    assert setup.asked() == before, "the second time there is nothing to do"


def test_setup_beside_a_daemon(setup):
    """Which is somebody's own: only its client is missing."""
    setup.has("dockerd")
    done = setup.run("test")
    assert done.returncode == 0, done.stderr
    assert [package for package in setup.asked() if package.startswith("docker")] == ["docker-cli"]
    assert not (setup.state / "policy").exists() and "not started" not in done.stdout


def test_setup_that_is_stopped(setup):
    done = setup.run("test", STUB_STOPS="docker.io")
    assert done.returncode == 1
    assert "policy-rc.d while: " in (setup.state / "policy").read_text()
    assert list(setup.sbin.iterdir()) == []


def test_setup_of_an_engine(setup):
    """Unless one answers; one that does not answer this user is named."""
    setup.has("docker", "#!/bin/sh\nexit 1\n")
    done = setup.run("engine")
    assert done.returncode == 0, done.stderr
    assert "docker is here, but 'docker info' fails for this user" in done.stdout
    assert {"podman", "runc"} < set(setup.asked())
    before = setup.asked()
    assert setup.run("engine").returncode == 0
    assert setup.asked() == before
