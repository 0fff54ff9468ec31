"""The medians of the hello rows as an SVG: one panel for each engine."""

from html import escape

WIDTH, LABELS, RIGHT, BAR, STEP = 860, 190, 160, 18, 26
COLOURS = {"ours, warm interpreter": "#0b6e4f", "ours, warm container": "#3fa37c", "ours, cold": "#a5d6c1",
           "bare host": "#6b7280", "ENGINE run --rm": "#b8bec8", "peer": "#c2703d"}
ORDER = list(COLOURS)
SHORT = {"bare host": "host", "ours, warm interpreter": "ours"}
FONT = "font-family='system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif'"


def kind(row):
    return "peer" if row.name.startswith("peer, ") else row.name


def label(name, engine):
    return name.replace("ENGINE", engine)


def milliseconds(value):
    return f"{value:,.0f} ms" if value >= 100 else f"{value:.1f} ms"


def times(ratio):
    return f"{ratio:.0f}" if ratio >= 10 else f"{ratio:.1f}" if ratio >= 2 else f"{ratio:.2f}"


class Drawing:
    def __init__(self):
        self.parts = []

    def text(self, x, y, words, size=13, colour="#374151", anchor="start", weight="normal"):
        self.parts.append(f"<text x='{x:.0f}' y='{y:.0f}' font-size='{size}' fill='{colour}' text-anchor='{anchor}' "
                          f"font-weight='{weight}'>{escape(words)}</text>")

    def bar(self, x, y, width, colour):
        self.parts.append(f"<rect x='{x}' y='{y}' width='{max(width, 1):.1f}' height='{BAR}' rx='2' fill='{colour}'/>")

    def svg(self, height):
        return (f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {height:.0f}' width='{WIDTH}' "
                f"height='{height:.0f}' {FONT}>\n<rect width='100%' height='100%' fill='#ffffff'/>\n"
                + "\n".join(self.parts) + "\n</svg>\n")


def chart(rows, subtitle):
    rows = [row for row in rows if row.group.startswith("hello") and kind(row) in COLOURS]
    if not rows:
        return None
    scale = (WIDTH - LABELS - RIGHT) / max(row.value for row in rows)
    drawing = Drawing()
    drawing.text(20, 32, "From request to reply: one “hello”, median", 18, "#111827", weight="600")
    drawing.text(20, 52, subtitle, 12, "#6b7280")
    y = 62
    for engine in dict.fromkeys(row.engine for row in rows):
        for group in dict.fromkeys(row.group for row in rows):
            found = sorted((row for row in rows if (row.engine, row.group) == (engine, group)),
                           key=lambda row: ORDER.index(kind(row)))
            if not found:
                continue
            y += 26
            drawing.text(20, y, f"{engine}, {group.partition(', ')[2]}", 14, "#111827", weight="600")
            y += 10
            # Beside a peer there is no bare host: ours is first, and what it is held against.
            base = next((row for row in found if row.name == "bare host"), found[0])
            for row in found:
                width = row.value * scale
                words = milliseconds(row.value)
                if row is not base:
                    words += f" = {times(row.value / base.value)} × {SHORT.get(base.name, base.name)}"
                drawing.text(LABELS - 10, y + 14, label(row.name, engine), 12, anchor="end")
                drawing.bar(LABELS, y, width, COLOURS[kind(row)])
                drawing.text(LABELS + width + 6, y + 14, words, 12, "#111827")
                y += STEP
    return drawing.svg(y + 12)
