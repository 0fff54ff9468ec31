# Makes matplotlib's Agg show: what is shown becomes a picture for the caller.
import os
from io import BytesIO

from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from sandbox_pictures import is_returned, keep, read_png


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
            self.figure.stale = False  # until it is changed

    # To whose name matplotlib may have put the end.
    def saved(self):
        return (self.file, self.file + ".png") if self.file else ()


class FigureManager(FigureManagerBase):
    def show(self):
        draw(self.canvas.figure)
        self.canvas.shown = True


FigureCanvas.manager_class = FigureManager


def show(*args, **kwargs):
    for manager in Gcf.get_all_fig_managers():
        draw(manager.canvas.figure)
    Gcf.destroy_all()


def take_over(agg):
    agg.FigureCanvas = agg._BackendAgg.FigureCanvas = FigureCanvas
    agg.FigureManager = agg._BackendAgg.FigureManager = FigureManager
    agg.show = show


# What a program has saved to a file itself comes back as that file.  With
# another backend, a figure that was drawn will have been saved.
def is_known(canvas):
    if not isinstance(canvas, FigureCanvas):
        return not canvas.figure.stale
    return canvas.shown or any(map(is_returned, canvas.saved()))


# A picture of it that the program has left in some other place will do.
def show_one(canvas):
    saved = () if canvas.figure.stale else filter(None, map(read_png, canvas.saved()))
    picture = next(iter(saved), None)
    if picture:
        keep(picture, "png")
    else:
        draw(canvas.figure)


def show_unsaved():
    for manager in Gcf.get_all_fig_managers():
        if not is_known(manager.canvas):
            show_one(manager.canvas)
    Gcf.destroy_all()
