#!/usr/bin/env python3
"""Makes terminal.svg: a recording of Steadfast in a terminal, as the README shows it.

Runs the real commands on photographs that it makes up, in a pseudo-terminal, and draws what they
print. One photograph loses a bit beneath its modification time, another is edited.

    cargo build --release --package steadfast-trial
    python3 docs/images/terminal.py target/release/steadfast-trial
"""

import argparse
import os
import pty
import random
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from html import escape
from pathlib import Path

COLUMNS = 96
CHAR_WIDTH, LINE_HEIGHT, MARGIN = 7.83, 19, 18
TYPING_S, PAUSE_S = 0.04, 1.2

# What a terminal's colours come to on the recording's dark ground.
COLOURS = {"31": "#ff7b72", "32": "#7ee787", "33": "#e3b341", "34": "#79c0ff", "36": "#76e3ea"}
SGR = re.compile(r"\x1b\[([0-9;]*)m")


@dataclass
class Line:
    """One line of the recording: what it shows, and when it appears."""

    spans: list[tuple[str, str]]
    at_s: float


def make_photographs(folder: Path) -> None:
    """Fills a folder with files of random bytes, named as cameras name photographs."""
    rng = random.Random(1)
    for year in (2019, 2020, 2021):
        for number in range(40):
            path = folder / str(year) / f"IMG_{1000 + 137 * number % 9000}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(rng.randbytes(rng.randrange(1_000_000, 3_000_000)))


def flip_bit(path: Path) -> None:
    """Changes one bit of a file and puts its modification time back, as decay would leave it."""
    times = path.stat()
    with path.open("r+b") as file:
        file.seek(4242)
        byte = file.read(1)[0]
        file.seek(4242)
        file.write(bytes([byte ^ 8]))
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


def run_in_terminal(words: list[str], folder: Path) -> str:
    """Runs a command in a pseudo-terminal and returns what it printed."""
    ours, theirs = pty.openpty()
    environment = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "COLUMNS": str(COLUMNS)}
    environment |= {"HOME": str(folder), "TZ": "UTC"}
    # Decay is played from above the file system, which moves the change time.
    environment["STEADFAST_IGNORE_CTIME"] = "1"
    process = subprocess.Popen(
        words, cwd=folder, stdin=theirs, stdout=theirs, stderr=theirs, env=environment
    )
    os.close(theirs)
    printed = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:
            break  # Linux reports EIO when the other end is closed.
        if not part:
            break
        printed += part
    process.wait()
    os.close(ours)
    return printed.decode()


def spans(text: str) -> list[tuple[str, str]]:
    """Splits a line at its colour codes: pairs of a style and the text that has it."""
    found, style, end = [], "", 0
    for code in SGR.finditer(text):
        found.append((style, text[end : code.start()]))
        numbers = code[1].split(";")
        colour = next((COLOURS[number] for number in numbers if number in COLOURS), "")
        style = f"fill:{colour};" if colour else ""
        style += "font-weight:bold;" if "1" in numbers else ""
        end = code.end()
    found.append((style, text[end:]))
    return [(style, part) for style, part in found if part]


def visible(printed: str) -> list[str]:
    """Returns the lines that stay on the terminal: a progress line that was redrawn does not."""
    lines = []
    for line in printed.replace("\r\n", "\n").split("\n"):
        last = re.split(r"\r|\x1b\[2K", line)[-1]
        lines += wrapped(re.sub(r"\x1b\[[0-9;?]*[A-HJKSTfhl]", "", last))
    while lines and not lines[-1].strip():
        lines.pop()
    return lines


def wrapped(line: str) -> list[str]:
    """Breaks a line as the terminal does, between words where there are some."""
    lines = []
    while len(SGR.sub("", line)) > COLUMNS:
        # Colour codes stand near the beginning of a line, so counting them too does no harm.
        cut = line.rfind(" ", 0, COLUMNS + len(line) - len(SGR.sub("", line)))
        lines.append(line[:cut])
        line = "  " + line[cut + 1 :]
    return [*lines, line]


def svg(lines: list[Line]) -> str:
    """Draws the recording: lines appear one after another, and stay."""
    width = round(COLUMNS * CHAR_WIDTH + 2 * MARGIN)
    height = len(lines) * LINE_HEIGHT + 2 * MARGIN
    rows = []
    for index, line in enumerate(lines):
        text = "".join(
            f'<tspan style="{style}">{escape(part)}</tspan>' if style else escape(part)
            for style, part in line.spans
        )
        y = MARGIN + (index + 0.75) * LINE_HEIGHT
        delay = f'style="animation-delay:{line.at_s:.2f}s"'
        rows.append(f'<text x="{MARGIN}" y="{y:.0f}" {delay}>{text}</text>')
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" role="img" aria-labelledby="title desc">',
            '<title id="title">Steadfast in a terminal</title>',
            '<desc id="desc">steadfast init records every photograph; steadfast check '
            "then finds one that is corrupt and one that was edited.</desc>",
            "<style>",
            "text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', "
            "monospace; fill: #e6edf3; white-space: pre; animation: appear 0.1s both; }",
            "@keyframes appear { from { opacity: 0; } }",
            "@media (prefers-reduced-motion: reduce) { text { animation: none; } }",
            "</style>",
            f'<rect width="{width}" height="{height}" rx="8" fill="#0d1117"/>',
            *rows,
            "</svg>",
            "",
        ]
    )


def record(program: Path, folder: Path) -> list[Line]:
    """Runs the commands of the recording and returns its lines."""
    pictures = folder / "Pictures"
    make_photographs(pictures)
    (folder / "bin").mkdir()
    shutil.copy(program, folder / "bin" / "steadfast")
    lines, at_s = [], 0.5

    def type_and_run(command: str) -> None:
        nonlocal at_s
        lines.append(Line([("fill:#7ee787;", "$ "), ("font-weight:bold;", command)], at_s))
        at_s += len(command) * TYPING_S + 0.4
        words = [str(folder / "bin" / "steadfast"), *command.split()[1:]]
        for line in visible(run_in_terminal(words, folder)):
            lines.append(Line(spans(line), at_s))
            at_s += 0.06
        lines.append(Line([], at_s))
        at_s += PAUSE_S

    type_and_run("steadfast init Pictures")
    flip_bit(pictures / "2019" / "IMG_1137.jpg")
    edited = pictures / "2021" / "IMG_1411.jpg"
    with edited.open("ab") as file:
        file.write(b"a caption")
    type_and_run("steadfast check Pictures")
    return lines[:-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program", type=Path, help="the steadfast to record")
    arguments = parser.parse_args()
    out = Path(__file__).with_name("terminal.svg")
    with tempfile.TemporaryDirectory(dir=Path.home()) as folder:
        out.write_text(svg(record(arguments.program.resolve(), Path(folder))))
    print(f"wrote {out}")


if __name__ == "__main__":
    main()
