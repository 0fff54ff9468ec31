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


NUMBERS = [
    ("open at the end", PLOT + "plt.plot([1]); plt.figure(); plt.plot([2])", 2, 0, []),
    ("Agg", "import matplotlib; matplotlib.use('Agg')\n" + PLOT + "plt.plot([1]); plt.show()", 1, 0, []),
    ("figure.show()", PLOT + "figure, axes = plt.subplots(); axes.plot([1]); figure.show()", 1, 0, []),
    ("saved", PLOT + "plt.plot([1]); plt.savefig('x.png')", 0, 0, ["x.png"]),
    ("saved and shown", PLOT + "plt.plot([1]); plt.savefig('x.png'); plt.show()", 1, 0, ["x.png"]),
    ("saved and closed", PLOT + "plt.plot([1]); plt.savefig('x.png'); plt.close()", 0, 0, ["x.png"]),
    ("saved by a stem", PLOT + "plt.plot([1]); plt.savefig('x')", 0, 0, ["x.png"]),
    ("saved from elsewhere", PLOT + "import os; os.mkdir('d'); os.chdir('d'); plt.plot([1]); plt.savefig('x.png')", 0, 0,
     ["d/x.png"]),
    ("saved elsewhere", PLOT + "plt.plot([1]); plt.savefig('/tmp/x.png')", 1, 0, []),
    ("saved and hidden", PLOT + "plt.plot([1]); plt.savefig('.x.png')", 1, 0, []),
    ("saved and removed", PLOT + "import os; plt.plot([1]); plt.savefig('x.png'); os.remove('x.png')", 1, 0, []),
    ("saved to memory", PLOT + "import io; plt.plot([1]); plt.savefig(io.BytesIO())", 1, 0, []),
    ("Agg, closed", "import matplotlib; matplotlib.use('agg')\n" + PLOT + "plt.plot([1]); plt.show(); plt.close()", 1, 0,
     []),
    ("Agg, by a variable", "import os; os.environ['MPLBACKEND'] = 'Agg'\n" + PLOT + "plt.plot([1]); plt.show()", 1, 0,
     []),
    ("Agg, switched to", PLOT + "plt.switch_backend('agg'); plt.plot([1]); plt.show(); plt.close()", 1, 0, []),
    ("another backend", "import matplotlib; matplotlib.use('template')\n" + PLOT + "plt.plot([1])", 1, 0, []),
    ("closed", PLOT + "plt.plot([1]); plt.close('all')", 0, 0, []),
    ("shown twice", PLOT + "figure, axes = plt.subplots(); axes.plot([1]); figure.show(); plt.show()", 1, 0, []),
    ("saved here and elsewhere", PLOT + "plt.plot([1]); plt.savefig('x.png'); plt.savefig('/tmp/y.pdf')", 0, 0,
     ["x.png"]),
    ("paused", PLOT + "plt.plot([1, 2]); plt.pause(.1); plt.savefig('x.png')", 1, 0, ["x.png"]),
    ("paused again and again", PLOT + "for n in range(3): plt.cla(); plt.plot([n, 1]); plt.pause(.1)\nplt.show()", 3, 0,
     []),
    ("one that cannot be drawn", PLOT + "plt.title(r'$\\frac{$'); plt.figure(); plt.plot([1])", 1, 0, []),
    ("in children", PLOT + "import os\nfor n in range(3):\n  if not os.fork():\n    plt.plot([1]); plt.show(); os._exit(0)\n"
     "  os.wait()", 3, 0, []),
    ("exception", PLOT + "plt.plot([1]); plt.show(); plt.figure(); plt.plot([2])\nraise ValueError('no')", 2, 1, []),
    ("exit", PLOT + "plt.plot([1]); raise SystemExit(3)", 1, 3, []),
    ("imported only", PLOT, 0, 0, []),
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


def test_saved_elsewhere(podman_shared):
    """The picture that is there already is shown, unless it is out of date."""
    code = PLOT + "plt.plot([1]); plt.savefig('/tmp/x.png', dpi=50)"
    assert figures_of(podman_shared.call(code)) == [320]
    for later in ("", "; plt.savefig(io.BytesIO())", "; plt.gcf().canvas.draw()"):
        [width] = figures_of(podman_shared.call("import io\n" + code + "; plt.title('later')" + later))
        assert width > 320, later


def test_saved_elsewhere_to_the_same_file(podman_shared):
    code = "for i in (2, 4, 6): plt.figure(figsize=(i, 2)); plt.plot([1]); plt.savefig('/tmp/x.png', dpi=50)"
    widths = figures_of(podman_shared.call(PLOT + code))
    assert len(set(widths)) == len(widths) == 3


def test_pause_leaves_the_figure(podman_shared):
    result = podman_shared.call(PLOT + "plt.plot([1, 2]); plt.pause(.1); plt.savefig('x.png')")
    assert listed_of(result)["x.png"] > 5000, "it is not blank"


def test_figure_that_cannot_be_drawn_is_told_of_once(podman_shared, begin):
    session = begin(podman_shared, code=PLOT)
    result = session.call("plt.title(r'$\\frac{$')")
    assert result["structuredContent"]["exit_code"] == 1 and "frac" in result["structuredContent"]["stderr"]
    assert session.value("1 + 1") == "2"


def test_more_than_are_shown(podman_shared):
    result = podman_shared.call(PLOT + "for n in range(30): plt.figure(figsize=(1, 1)); plt.plot([1]); plt.show()")
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


def test_open_figures_of_a_snippet_that_fails(podman_shared, begin):
    session = begin(podman_shared, code=PLOT)
    result = session.call("plt.plot([1])\n1 / 0")
    assert len(figures_of(result)) == 1, "shown with the call that drew it"
    assert listed_of(session.call("1")) == {}


def test_values_that_are_pictures(podman_shared, begin):
    session = begin(podman_shared, code=PLOT + "from PIL import Image\nimport matplotlib")
    result = session.call("Image.new('RGB', (321, 100), 'red')")
    assert figures_of(result) == [321]
    assert "value" not in result["structuredContent"]
    result = session.call("class S:\n  def _repr_svg_(self): return '<svg xmlns=\"http://www.w3.org/2000/svg\"/>'\nS()")
    [item] = result["content"][1:]
    assert item["resource"]["mimeType"] == "image/svg+xml" and item["resource"]["text"].startswith("<svg")
    assert "[files]\nfigure-01.svg" in said_of(result)
    result = session.call("'<svg></svg>'")
    assert list(listed_of(result)) == ["figure-01.svg"]
    result = session.call("class B:\n  def _repr_png_(self): raise ValueError('broken')\nB()")
    assert "ValueError: broken" in result["structuredContent"]["stderr"]
    result = session.call("figure, axes = plt.subplots(); axes.plot([1])\nfigure")
    assert len(figures_of(result)) == 1


def test_svg_of_a_javascript_session(shared, begin):
    session = begin(shared, "run_js_code")
    result = session.call("`\n<svg xmlns='http://www.w3.org/2000/svg'/>`")
    assert list(listed_of(result)) == ["figure-01.svg"] and "value" not in result["structuredContent"]
    assert result["content"][1]["resource"]["text"] == "\n<svg xmlns='http://www.w3.org/2000/svg'/>"
    assert listed_of(session.call("1")) == {}
