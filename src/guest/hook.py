# Goes on where boot.py ends, in its place, before Python opens the script: waits
# here for the code.  When it is over nothing is left of it: the environment,
# sys.path and sys.modules are those of the plain command.
import sys

# The image's own sitecustomize, if there is one, takes this one's place.
rest = os.environ["PYTHONPATH"].partition(":")[2]
if rest:
    os.environ["PYTHONPATH"] = rest
else:
    del os.environ["PYTHONPATH"]
nonce, file, preload, *how = os.environ.pop("SANDBOX_RUNNER").split(" ")
sys.path.remove(ours)
sys.path_importer_cache.pop(ours, None)
del sys.modules["sitecustomize"]
missing = None
try:
    import sitecustomize
except ImportError as error:
    missing = error


def say(word, *streams):
    for stream in streams:
        os.write(stream, b"\036%s %s\n" % (nonce.encode(), word))


def take_code(left):
    target = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    while left > 0:
        code = receive(3, min(left, 1 << 20))
        left -= len(code)
        while code:
            code = code[os.write(target, code):]
    os.close(target)


# Where packages are installed, ahead of the image's own; at the start it may not
# have been there yet.  What a package wants done at a start is done now.
def find_packages():
    site = sys.modules["site"]
    place = site.ENABLE_USER_SITE and site.getusersitepackages()
    if not place or not os.path.isdir(place):
        return
    before = sys.path[:]
    site.addsitedir(place, set(before))
    own = [number for number, path in enumerate(before) if path in site.getsitepackages()]
    at = own[0] if own else len(before)
    sys.path[:] = before[:at] + sys.path[len(before):] + before[at:]


# What was installed may be another version of what was imported ahead of it, or
# want something done at the start.
def start_again():
    with open("/proc/self/cmdline", "rb") as words:
        argv = words.read().split(b"\0")[:-1]
    os.environ["PYTHONPATH"] = ours + (":" + rest if rest else "")
    os.environ["SANDBOX_RUNNER"] = " ".join([nonce, file, "", *how])
    os.execv(sys.executable, argv)


# The servant has put in place what there is.
def take_extras():
    words = []
    try:
        with open(ours + "/arguments", "rb") as given:
            words = [os.fsdecode(word) for word in given.read().split(b"\0")[:-1]]
        os.unlink(ours + "/arguments")
    except FileNotFoundError:
        pass
    sys.argv = [program, *words]
    take_stdin()


def identify(fd):
    status = os.fstat(fd)
    return status.st_dev, status.st_ino


# As number 0, which is free if a snippet has closed it; or else by another one,
# if what has the number 0 by now is the snippet's.
def take_stdin():
    global stdin, placed
    try:
        stdin = os.open(scratch + "/stdin", os.O_RDONLY)
        os.unlink(scratch + "/stdin")
    except FileNotFoundError:
        stdin = os.open("/dev/null", os.O_RDONLY)
    if stdin != 0 and placed in (None, identify(0)):
        os.dup2(stdin, 0)
        os.close(stdin)
        stdin = 0
    os.set_inheritable(stdin, stdin == 0)
    placed = identify(stdin)


# What matplotlib comes to by itself where there is no display, after it has
# tried all others.
def choose_backend(matplotlib):
    settings = getattr(matplotlib, "rcParams", None)
    if settings and not isinstance(dict.__getitem__(settings, "backend"), str):
        settings["backend"] = "agg"


def take_over(agg):
    __import__("sandbox_figures").take_over(agg)


def tell_directory(pictures):
    pictures.work = work


# Behind that module's own, which closes them all.
def show_at_the_end(helpers, pid=os.getpid()):
    __import__("atexit").register(lambda: os.getpid() == pid and show_open())


# Those that are still open, by whichever backend they were made.
def show_open():
    helpers = sys.modules.get("matplotlib._pylab_helpers")
    if helpers and helpers.Gcf.figs:
        __import__("matplotlib.backends.backend_agg")
        sys.modules["sandbox_figures"].show_unsaved()


# The program has the name of a module of the standard library, code, by which
# doctest and pdb, among others, would import it.
def find_other(name, target):
    elsewhere = [place for place in sys.path if os.path.abspath(place) != work]
    return find_plain(name, elsewhere, target)


# matplotlib's Agg is made to hand its figures to the caller; a program that
# does not import it will not notice.
def find_spec(finder, name, path=None, target=None):
    if name in ("sandbox_figures", "sandbox_pictures"):
        from_file = __import__("importlib.util").util.spec_from_file_location
        spec = from_file(name, f"{ours}/{name[8:]}.py")
    else:
        spec = find_plain(name, path, target)
    if spec and spec.origin == script:
        spec = find_other(name, target) or spec
    then = after.get(name)
    if spec and spec.loader and then:
        load = spec.loader.exec_module
        spec.loader.exec_module = lambda module: (load(module), then(module))
    return spec


# What matplotlib leaves to the first plot, and to the first picture of it.
FIRST_PLOT = ("matplotlib.backends.backend_agg", "PIL.BmpImagePlugin", "PIL.GifImagePlugin",
              "PIL.JpegImagePlugin", "PIL.PngImagePlugin", "PIL.PpmImagePlugin")


def load(names):
    for name in names:
        try:
            if name:
                __import__(name)
        except Exception:
            pass


work = os.getcwd()
script = f"{work}/{file}"
after = {
    "matplotlib": choose_backend,
    "matplotlib._pylab_helpers": show_at_the_end,
    "matplotlib.backends.backend_agg": take_over,
    "sandbox_pictures": tell_directory,
}
for finder in sys.meta_path:
    if getattr(finder, "__name__", "") == "PathFinder":
        find_plain = finder.find_spec
        finder.find_spec = classmethod(find_spec)
scratch = "/home/sandbox/.sandbox"
placed = None
load(preload.split(","))
if preload and "matplotlib.pyplot" in sys.modules:
    load(FIRST_PLOT)
    if "pandas" in sys.modules:
        load(["pandas.plotting._matplotlib"])
if preload:
    # Else the collector goes through all of it when the program ends, which
    # takes longer than most programs.
    __import__("gc").freeze()
if not how:
    say(b"ready", 1, 2)
    line = read_line(3)
    if line[0] == "code":
        take_code(int(line[1]))
    os.write(7, b"\n")
    os.close(3)
    if line[0] != "code":
        how = read_line(8)
    if "installed" in how:
        start_again()
if how:
    program = sys.argv[0]
    take_extras()
if "session" in how:
    try:
        exec(compile(open(ours + "/session.py").read(), ours + "/session.py", "exec"), globals())
    finally:
        os._exit(1)  # else Python would go on, and run the file once more
say(b"started", 1)
os.close(7)
os.close(8)
# Python takes this for a missing sitecustomize, which it is.
if missing:
    raise missing
