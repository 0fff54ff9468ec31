"""The rows as tables in Markdown, as JSON and as a chart."""

import dataclasses
import json
import os

from chart import chart, label

HEADINGS = ("", "p50", "p95", "ratio", "bar", "")
NOTES = (
    "Times are from request line written to reply line read, or from start to exit. Each call gets a fresh container.",
    "Between calls the bench waits until the pool has refilled and the machine has settled: a client such as an LLM "
    "has seconds between calls. The sustained rate shows what is left without that pause.",
    "All in one run, the variants in turn, none with a network but a peer. ENGINE run is the bare engine, without the "
    "limits and the hardening that each container of ours has; rates also show it with those flags.",
    "Time that the host of a virtual machine has taken for others is left out of the sustained rate.",
)
BUSY = "The machine was busy with something else: do not trust these numbers."


def notes(facts):
    """A load of half its cores before the first measurement is not ours."""
    return [*NOTES, *([BUSY] if float(facts["load before"]) > os.cpu_count() / 2 else [])]


def number(value, unit=""):
    if value is None:
        return ""
    digits = 0 if value >= 100 or value == int(value) and not unit else 1 if value >= 10 else 2
    return f"{value:.{digits}f}" + (f" {unit}" if unit else "")


def cells(row):
    verdict = {True: "PASS", False: "MISS", None: ""}[row.passed]
    ratio = f"{row.ratio:.2f} × {label(row.reference, row.engine)}" if row.ratio is not None else ""
    return (f"{row.group}: {label(row.name, row.engine)}", number(row.value, row.unit), number(row.p95, row.unit),
            ratio, row.bar, verdict)


def table(rows):
    lines = [HEADINGS, *map(cells, rows)]
    widths = [max(3, *(len(line[column]) for line in lines)) for column in range(len(HEADINGS))]
    lines.insert(1, ["-" * width for width in widths])
    return ["| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths)) + " |" for line in lines]


def markdown(facts, rows, failures):
    lines = []
    for engine in dict.fromkeys(row.engine for row in rows):
        lines += [f"### {facts[engine]}", "", *table([row for row in rows if row.engine == engine]), ""]
    lines += [f"- {key}: {value}" for key, value in facts.items()]
    lines += ["", *notes(facts)]
    if failures:
        lines += ["", *(f"FAILED: {failure}" for failure in failures)]
    return "\n".join(lines) + "\n"


def write(directory, facts, rows, failures):
    subtitle = "; ".join(facts[engine] for engine in dict.fromkeys(row.engine for row in rows))
    files = {
        "results.md": markdown(facts, rows, failures),
        "results.json": json.dumps({"machine": facts, "rows": [dataclasses.asdict(row) for row in rows],
                                    "failures": failures}, indent=1) + "\n",
        "chart.svg": chart(rows, f"{subtitle}; {facts['CPU']}; a fresh container for each call"),
    }
    for name, text in files.items():
        (directory / name).unlink(missing_ok=True)  # none that an earlier run has left
        if text:
            (directory / name).write_text(text)
