"""The rows as a table, Markdown, JSON and a chart."""

import dataclasses
import json

from chart import chart, label

HEADINGS = ("engine", "what", "", "p50", "p95", "ratio", "to", "bar", "")
NOTES = (
    "Times are from request line written to reply line read, or from start to exit. Each call gets a fresh container.",
    "Between calls the bench waits until the pool has refilled and the machine has settled: a client such as an LLM "
    "has seconds between calls. The sustained rate shows what is left without that pause.",
    "All in one run, the variants in turn. Everything with --network none; sustained rate and output compare with "
    "ENGINE run --rm under the very flags that the server gives.",
)


BUSY = "The machine was busy with something else: do not trust these numbers."


def notes(facts):
    """A load of half its cores before the first measurement is not ours."""
    return [*NOTES, *([BUSY] if float(facts["load before"]) > facts["cores"] / 2 else [])]


def number(value, unit=""):
    if value is None:
        return ""
    digits = 0 if value >= 100 or value == int(value) and not unit else 1 if value >= 10 else 2
    return f"{value:.{digits}f}" + (f" {unit}" if unit else "")


def cells(row):
    verdict = {True: "PASS", False: "MISS", None: ""}[row.passed]
    ratio = f"{row.ratio:.2f} ×" if row.ratio is not None else ""
    return (row.engine, row.group, label(row.name, row.engine or "ENGINE"), number(row.value, row.unit),
            number(row.p95, row.unit), ratio, label(row.reference, row.engine), row.bar, verdict)


def text_table(rows):
    lines = [HEADINGS, *map(cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)


def markdown(facts, rows, failures):
    lines = ["| " + " | ".join(HEADINGS) + " |", "|" + " --- |" * len(HEADINGS)]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    lines += ["", *(f"- {key}: {value}" for key, value in facts.items()), "", *notes(facts)]
    lines += ["", *(f"FAILED: {failure}" for failure in failures)] if failures else []
    return "\n".join(lines) + "\n"


def write(directory, facts, rows, failures):
    print(text_table(rows), *(f"{key}: {value}" for key, value in facts.items()), *notes(facts), sep="\n")
    for failure in failures:
        print(f"FAILED: {failure}")
    (directory / "results.md").write_text(markdown(facts, rows, failures))
    (directory / "results.json").write_text(json.dumps(
        {"machine": facts, "rows": [dataclasses.asdict(row) for row in rows], "failures": failures}, indent=1) + "\n")
    picture = chart(rows, "; ".join(facts[key] for key in ("podman", "docker") if key in facts)
                    + f"; {facts['cores']} cores; a fresh container for each call")
    if picture:
        (directory / "chart.svg").write_text(picture)
    print(f"{directory.relative_to(directory.parents[1])}/: results.md, results.json, chart.svg")
