"""Pictures that a program draws come back with its result."""

import struct

import pytest
from harness import facts_of, listed_of, returned_of, said_of

PNG = b"\x89PNG\r\n\x1a\n"
PLOT = "import matplotlib.pyplot as plt\n"


def figures_of(result):
    """Of each figure its width, in the order in which they came."""
    assert all(item["mimeType"] == "image/png" for item in result["content"][1:]), result["content"][1:]
    return [width_of(picture) for picture in returned_of(result).values()]


def width_of(picture):
    assert picture.startswith(PNG) and picture[12:16] == b"IHDR"
    width, height = struct.unpack(">II", picture[16:24])
    assert width > 50 and height > 50
    return width


def test_shown_in_order(shared):
    """The second is wider than the first."""
    result = shared.call(PLOT + "plt.figure(figsize=(3, 3)); plt.plot([1, 2]); plt.show()\nprint('between')\n"
                                "plt.figure(figsize=(9, 3)); plt.plot([2, 1]); plt.show()")
    assert facts_of(result)["exit_code"] == 0 and facts_of(result)["stdout"] == "between\n"
    assert list(listed_of(result)) == ["figure-01.png", "figure-02.png"]
    first, second = figures_of(result)
    assert first < second
    assert [item["type"] for item in result["content"]] == ["text", "image", "image"]


# Each figure is as many hundred pixels wide as its number says.
MANY = PLOT + """
import io, os
from matplotlib.patches import Rectangle

def new(number):
    figure = plt.figure(figsize=(number, 1))
    figure.add_artist(Rectangle((0, 0), 1, 1))
    return figure

new(1)
new(2).savefig("saved.png")
new(3).savefig("stem")
new(4).savefig("closed.png"); plt.close()
new(5).savefig("/tmp/elsewhere.png")
new(6).savefig(".hidden.png")
new(7).savefig("removed.png"); os.remove("removed.png")
new(8).savefig(io.BytesIO())
figure = new(9); figure.savefig("here.png"); figure.savefig("/tmp/there.pdf")
figure = new(10); figure.savefig("shown.png"); figure.show()
new(11).show()
new(12).suptitle(r"$\\frac{$")
os.mkdir("d"); os.chdir("d"); new(13).savefig("from-there.png")
"""


def test_which_are_shown(podman_shared):
    """At once, or in the end; not those that come back as files, nor the one
    that cannot be drawn, which does not keep the others from it."""
    result = podman_shared.call(MANY)
    assert facts_of(result)["exit_code"] == 0 and "frac" in facts_of(result)["stderr"], result
    figures = [f"figure-{number + 1:02}.png" for number in range(7)]
    assert list(listed_of(result)) == figures + ["closed.png", "d/from-there.png", "here.png", "saved.png", "shown.png",
                                                  "stem.png"]
    widths = [struct.unpack(">I", picture[16:20])[0] // 100 for picture in returned_of(result).values()]
    assert widths[:7] == [10, 11, 1, 5, 6, 7, 8]


NUMBERS = [
    ("open at the end", PLOT + "plt.plot([1]); plt.figure(); plt.plot([2])", 2, 0, []),
    ("Agg", "import matplotlib; matplotlib.use('Agg')\n" + PLOT + "plt.plot([1]); plt.show(); plt.close()", 1, 0, []),
    ("Agg, by a variable", "import os; os.environ['MPLBACKEND'] = 'Agg'\n" + PLOT + "plt.plot([1]); plt.show()", 1, 0,
     []),
    ("Agg, switched to", PLOT + "plt.switch_backend('agg'); plt.plot([1]); plt.show(); plt.close()", 1, 0, []),
    ("another backend", "import matplotlib; matplotlib.use('template')\n" + PLOT + "plt.plot([1])", 1, 0, []),
    ("closed", PLOT + "plt.plot([1]); plt.close('all')", 0, 0, []),
    ("shown twice", PLOT + "figure, axes = plt.subplots(); axes.plot([1]); figure.show(); plt.show()", 1, 0, []),
    ("paused again and again", PLOT + "for n in range(3): plt.cla(); plt.plot([n, 1]); plt.pause(.1)\nplt.show()", 3, 0,
     []),
    ("in children", PLOT + "import os\nfor n in range(3):\n  if not os.fork():\n    plt.plot([1]); plt.show(); os._exit(0)\n"
     "  os.wait()", 3, 0, []),
    ("exception", PLOT + "plt.plot([1]); plt.show(); plt.figure(); plt.plot([2])\nraise ValueError('no')", 2, 1, []),
    ("exit", PLOT + "plt.plot([1]); plt.savefig('x.png'); plt.show(); raise SystemExit(3)", 1, 3, ["x.png"]),
    ("fork", PLOT + "import os; plt.plot([1])\nif os.fork(): os.wait()", 1, 0, []),
]


@pytest.mark.parametrize("code, count, exit_code, files", [row[1:] for row in NUMBERS], ids=[row[0] for row in NUMBERS])
def test_how_many(podman_shared, code, count, exit_code, files):
    result = podman_shared.call(code)
    assert facts_of(result)["exit_code"] == exit_code, result
    figures = [f"figure-{number + 1:02}.png" for number in range(count)]
    assert list(listed_of(result)) == figures + files
    assert len(figures_of(result)) == count + len(files)


def test_saved_and_too_large(podman_shared):
    """A file that is only listed does not stand for its figure."""
    result = podman_shared.call(PLOT + "import numpy\nplt.imshow(numpy.random.rand(600, 600, 3))\n"
                                       "plt.savefig('x.png', dpi=300)")
    assert list(listed_of(result)) == ["figure-01.png", "x.png"] and listed_of(result)["x.png"] > 1 << 20
    assert len(figures_of(result)) == 1


LATER = PLOT + """
import io
for n, later in enumerate((None, lambda: 0, lambda: plt.savefig(io.BytesIO()), plt.draw)):
    plt.figure()
    plt.plot([1])
    plt.savefig(f"/tmp/{n}.png", dpi=50)
    if later:
        plt.title("later")
        later()
"""


def test_saved_elsewhere(podman_shared):
    """The picture that is there already is shown, unless it is out of date."""
    first, *others = figures_of(podman_shared.call(LATER))
    assert first == 320 and len(others) == 3 and min(others) > 320


def test_saved_elsewhere_to_the_same_file(podman_shared):
    code = "for i in (2, 4, 6): plt.figure(figsize=(i, 2)); plt.plot([1]); plt.savefig('/tmp/x.png', dpi=50)"
    widths = figures_of(podman_shared.call(PLOT + code))
    assert len(set(widths)) == len(widths) == 3


def test_pause_leaves_the_figure(podman_shared):
    result = podman_shared.call(PLOT + "plt.plot([1, 2]); plt.pause(.1); plt.savefig('x.png')")
    assert list(listed_of(result)) == ["figure-01.png", "x.png"]
    assert listed_of(result)["x.png"] > 5000, "it is not blank"


def test_figure_that_cannot_be_drawn_is_told_of_once(podman_shared, begin):
    session = begin(podman_shared, code=PLOT)
    result = session.call("plt.title(r'$\\frac{$')")
    assert result["structuredContent"]["exit_code"] == 1 and "frac" in result["structuredContent"]["stderr"]
    assert session.value("1 + 1") == "2"


def test_more_than_are_shown(podman_shared):
    code = "from matplotlib.patches import Rectangle\n" \
           "for n in range(22): plt.figure(figsize=(1, 1)).add_artist(Rectangle((0, 0), 1, 1)); plt.show()"
    result = podman_shared.call(PLOT + code)
    assert list(listed_of(result)) == [f"figure-{number + 1:02}.png" for number in range(20)]
    assert facts_of(result)["stderr"] == "Only the first 20 figures are shown.\n"
    assert len(figures_of(result)) == 20


def test_figures_of_a_session(shared, begin):
    """Each comes once, also if the program fails, and they are no resources."""
    session = begin(shared, code=PLOT + "plt.plot([1])")
    assert list(listed_of(session.first)) == ["figure-01.png"]
    assert listed_of(session.call("1")) == {}
    result = session.call("plt.plot([1]); plt.show(); plt.figure(figsize=(9, 3)); plt.plot([2])\nplt.show()")
    first, second = figures_of(result)
    assert first < second
    assert "uri" not in result["structuredContent"]["files"][0]
    result = session.call("plt.plot([1]); plt.show()\n1 / 0")
    assert result["structuredContent"]["exit_code"] == 1 and len(figures_of(result)) == 1
    assert listed_of(session.call("1")) == {}


def test_open_figures_of_a_snippet_that_is_stopped(podman_shared, begin):
    session = begin(podman_shared, code=PLOT)
    result = session.call("plt.plot([1])\nwhile True: pass", timeout_seconds=1)
    assert result["structuredContent"]["timed_out"] is True and listed_of(result) == {}
    assert listed_of(session.call("1")) == {}, "they are not the next one's"


# Without a line that is drawn the picture is the same for both.
ANIMATION = PLOT + """
from matplotlib.animation import FuncAnimation
for end in (1, 2):
    figure, axes = plt.subplots()
    axes.set(xlim=(0, 2), ylim=(0, 2))
    line, = axes.plot([], [])
    def first():
        line.set_data([], [])
        return line,
    def step(number):
        line.set_data([0, end], [0, 1])
        return line,
    animation = FuncAnimation(figure, step, frames=3, {})
    plt.show()
"""


@pytest.mark.parametrize("how", ["", "init_func=first", "init_func=first, blit=True"])
def test_animation(podman_shared, how):
    """Its first frame is shown."""
    result = podman_shared.call(ANIMATION.replace("{}", how))
    assert facts_of(result)["stderr"] == ""
    first, second = returned_of(result).values()
    assert first != second


def test_open_figures_of_a_snippet_that_fails(podman_shared, begin):
    session = begin(podman_shared, code=PLOT)
    result = session.call("plt.plot([1])\n1 / 0")
    assert len(figures_of(result)) == 1, "shown with the call that drew it"
    assert listed_of(session.call("1")) == {}


PROLOGUE = '<?xml version="1.0"?>\n<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "x">\n<!-- made by hand -->\n'


def test_values_that_are_pictures(podman_shared, begin):
    session = begin(podman_shared, code=PLOT + "from PIL import Image\nimport matplotlib")
    result = session.call("Image.new('RGB', (321, 100), 'red')")
    assert figures_of(result) == [321]
    assert "value" not in result["structuredContent"]
    result = session.call("class S:\n  def _repr_svg_(self): return '<svg xmlns=\"http://www.w3.org/2000/svg\"/>'\nS()")
    [item] = result["content"][1:]
    assert item["resource"]["mimeType"] == "image/svg+xml" and item["resource"]["text"].startswith("<svg")
    assert "[files]\nfigure-01.svg" in said_of(result)
    for text in ("<svg></svg>", PROLOGUE + "<svg/>"):
        assert list(listed_of(session.call(repr(text)))) == ["figure-01.svg"]
    assert session.value("'<p><svg>'") == "'<p><svg>'"
    assert session.value("'<?x?>' * 40") == repr('<?x?>' * 40)
    result = session.call("class B:\n  def _repr_png_(self): raise ValueError('broken')\nB()")
    assert "ValueError: broken" in result["structuredContent"]["stderr"]
    assert result["structuredContent"]["value"].startswith("<__main__.B object")
    result = session.call("figure, axes = plt.subplots(); axes.plot([1])\nfigure")
    assert len(figures_of(result)) == 1
    result = session.call("figure")
    assert len(figures_of(result)) == 1 and "value" not in result["structuredContent"], "it was closed since"


def test_svg_of_a_javascript_session(shared, begin):
    session = begin(shared, "run_js_code")
    text = PROLOGUE + "<svg xmlns='http://www.w3.org/2000/svg'/>"
    result = session.call(f"`{text}`")
    assert list(listed_of(result)) == ["figure-01.svg"] and "value" not in result["structuredContent"]
    assert result["content"][1]["resource"]["text"] == text
    assert listed_of(session.call("1")) == {}
