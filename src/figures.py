# A backend for matplotlib: what is shown becomes a picture for the caller.
import os
from io import BytesIO

from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from sandbox_pictures import is_returned, keep


def draw(figure):
    picture = BytesIO()
    FigureCanvasAgg.print_figure(figure.canvas, picture, format="png", bbox_inches="tight")
    keep(picture.getvalue(), "png")


class FigureCanvas(FigureCanvasAgg):
    shown = False
    file = None

    def print_figure(self, filename, *args, **kwargs):
        super().print_figure(filename, *args, **kwargs)
        if isinstance(filename, (str, os.PathLike)):
            self.file = os.path.abspath(filename)


class FigureManager(FigureManagerBase):
    def show(self):
        draw(self.canvas.figure)
        self.canvas.shown = True


FigureCanvas.manager_class = FigureManager


def show(*args, **kwargs):
    for manager in Gcf.get_all_fig_managers():
        draw(manager.canvas.figure)
    Gcf.destroy_all()


# What a program has saved to a file itself comes back as that file, to whose
# name matplotlib may have put the end.  With a backend that it has chosen, a
# figure that was drawn will have been saved.
def is_known(canvas):
    if not isinstance(canvas, FigureCanvas):
        return not canvas.figure.stale
    names = (canvas.file, canvas.file + ".png") if canvas.file else ()
    return canvas.shown or any(map(is_returned, names))


def show_unsaved():
    for manager in Gcf.get_all_fig_managers():
        if not is_known(manager.canvas):
            draw(manager.canvas.figure)
    Gcf.destroy_all()
