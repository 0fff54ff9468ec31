# Makes matplotlib's Agg show: what is shown becomes a picture for the caller.
import os
from io import BytesIO

from matplotlib import is_interactive
from matplotlib._pylab_helpers import Gcf
from matplotlib.backend_bases import FigureManagerBase, TimerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from sandbox_pictures import is_returned, keep, read_png, stamp_of


class Timer(TimerBase):
    started = False

    def _timer_start(self):
        self.started = True

    def _timer_stop(self):
        self.started = False


# An animation begins when its figure is drawn, and not when it is saved; its
# first frame comes when its timer ticks, which none does here by itself.  Once:
# what is called then may show the figure too.
def begin_animation(canvas):
    if canvas.callbacks.callbacks.get("draw_event"):
        canvas.draw()
    timers = [timer for timer in getattr(canvas, "timers", ()) if timer.started]
    canvas.timers = []
    for timer in timers:
        timer._on_timer()


def picture_of(figure):
    begin_animation(figure.canvas)
    picture = BytesIO()
    FigureCanvasAgg.print_figure(figure.canvas, picture, format="png", bbox_inches="tight")
    return picture.getvalue()


def draw(figure):
    keep(picture_of(figure), "png")


# As the value of a snippet: one that is open is shown by itself.
def repr_png(figure):
    is_open = figure.canvas.manager in Gcf.figs.values()
    return None if is_open else picture_of(figure)


class FigureCanvas(FigureCanvasAgg):
    shown = False

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.files = set()  # that the program has saved
        self.fresh = {}  # those that show the figure as it is, and their stamps
        self.timers = []

    def new_timer(self, interval=None, callbacks=None):
        self.timers.append(Timer(interval=interval, callbacks=callbacks))
        return self.timers[-1]

    # Whatever draws takes the mark off a figure that was changed.
    def forget_old(self):
        if self.figure.stale:
            self.fresh.clear()
            self.shown = False

    def draw(self, *args, **kwargs):
        self.forget_old()
        return super().draw(*args, **kwargs)

    def print_figure(self, filename, *args, **kwargs):
        self.forget_old()
        result = super().print_figure(filename, *args, **kwargs)
        if isinstance(filename, (str, os.PathLike)):
            # To whose name matplotlib may have put the end.
            name = os.path.abspath(filename)
            for path in (name, name.rstrip(".") + ".png"):
                self.files.add(path)
                self.fresh[path] = stamp_of(path)
            self.figure.stale = False  # until it is changed
        return result


class FigureManager(FigureManagerBase):
    def show(self):
        draw(self.canvas.figure)
        self.canvas.shown = True
        self.canvas.figure.stale = False


FigureCanvas.manager_class = FigureManager


# One that does not block leaves the figures open: plt.pause(), for one.
def show(block=None, **kwargs):
    blocks = not is_interactive() if block is None else block
    for manager in Gcf.get_all_fig_managers():
        canvas = manager.canvas
        if not getattr(canvas, "shown", False) or (blocks and canvas.figure.stale):
            draw(canvas.figure)
            canvas.shown = True
            canvas.figure.stale = False
    if blocks:
        Gcf.destroy_all()


def take_over(agg):
    agg.FigureCanvas = agg._BackendAgg.FigureCanvas = FigureCanvas
    agg.FigureManager = agg._BackendAgg.FigureManager = FigureManager
    agg.show = show
    Figure._repr_png_ = repr_png


# What a program has saved to a file itself comes back as that file.  With
# another backend, a figure that was drawn will have been saved.
def is_known(canvas):
    if not isinstance(canvas, FigureCanvas):
        return not canvas.figure.stale
    return (canvas.shown and not canvas.figure.stale) or any(map(is_returned, canvas.files))


# A picture of it that the program has left in some other place will do.
def show_one(canvas):
    saved = {} if canvas.figure.stale else canvas.fresh
    pictures = (read_png(path, stamp) for path, stamp in saved.items())
    picture = next(filter(None, pictures), None)
    if picture:
        keep(picture, "png")
    else:
        draw(canvas.figure)


# One that cannot be drawn does not keep the others from it, and goes too.
def show_unsaved():
    problem = None
    for manager in Gcf.get_all_fig_managers():
        try:
            if not is_known(manager.canvas):
                show_one(manager.canvas)
        except Exception as error:
            problem = problem or error
    Gcf.destroy_all()
    if problem:
        raise problem
