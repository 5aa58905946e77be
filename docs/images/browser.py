#!/usr/bin/env python3
"""Makes browser.png: the page that `steadfast serve` shows after a check, as the README has it.

Needs playwright and Chromium, as the browser tests do:

    .venv-browser/bin/python docs/images/browser.py target/release/steadfast
"""

import argparse
import os
import signal
import subprocess
import tempfile
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from terminal import flip_bit, make_photographs

CHROMIUM = "/usr/bin/chromium"
WIDTH, HEIGHT = 1100, 760


def picture(program: Path, folder: Path, out: Path) -> None:
    """Checks made-up photographs in the browser and takes a picture of the result."""
    pictures = folder / "Pictures"
    make_photographs(pictures)
    subprocess.run([program, "init", "--quiet", pictures], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([program, "tag", "--quiet", pictures], check=True)
    flip_bit(pictures / "2019" / "IMG_1137.jpg")
    words = [program, "serve", "--no-open", pictures]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        entrance = server.stdout.readline().strip()
        with sync_playwright() as playwright:
            arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=arguments)
            page = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
            page.goto(entrance)
            page.get_by_role("button", name="Check now").first.click()
            expect(page.locator("#results")).to_be_visible(timeout=60_000)
            page.screenshot(path=out)
            browser.close()
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(20)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("program", type=Path, help="the steadfast to show")
    out = Path(__file__).with_name("browser.png")
    with tempfile.TemporaryDirectory(prefix="archive-", dir=Path.home()) as folder:
        picture(parser.parse_args().program.resolve(), Path(folder), out)
    print(f"wrote {out}")


if __name__ == "__main__":
    main()
