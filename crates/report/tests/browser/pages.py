"""Opens pages in Chromium, the golden ones if none are named, and holds each against what a report
promises.

No request, no script's complaint, nothing that axe finds in light or dark on a telephone or a
desk, nothing that is wider than the screen, and a size that goes into a mail. With `--shots
FOLDER`, pictures of every section are left there for who wants to look: light, dark, printed and
without colour.
"""

import argparse
import pathlib
import sys

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

PAGES = pathlib.Path(__file__).resolve().parents[4] / "testdata/golden/report/page"
BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
PAGE_BYTES_MAX = 500_000
# On a busy machine, a page takes a minute.
PATIENCE_MS = 300_000
WIDTHS = [390, 1440]
SCHEMES = ["light", "dark"]

# Every picture explains itself to who cannot see it, by ids that exist once.
PICTURES = """() => [...document.querySelectorAll('svg')].filter(svg => {
    const told = name => {
        const id = svg.getAttribute(name);
        return id && document.querySelectorAll('#' + CSS.escape(id)).length === 1
            && document.getElementById(id).textContent.trim() !== '';
    };
    return svg.getAttribute('role') !== 'img' || !told('aria-labelledby')
        || !told('aria-describedby') || !svg.querySelector('title') || !svg.querySelector('desc');
}).length"""

# Words of a picture lie within it.
CUT = """() => [...document.querySelectorAll('svg text')].filter(text => {
    const own = text.getBoundingClientRect(), all = text.closest('svg').getBoundingClientRect();
    return own.width > 0 && (own.left < all.left - 4 || own.right > all.right + 4);
}).map(text => text.textContent.trim())"""

# A table has a caption, and a heading for each of its columns and rows.
TABLES = """() => [...document.querySelectorAll('table')].filter(table =>
    !table.caption || !table.caption.textContent.trim()
    || [...table.tHead.rows[0].cells].some(cell => cell.scope !== 'col')
    || [...table.tBodies[0].rows].some(row => row.cells[0].scope !== 'row')
).length"""


def look(browser, path, width, scheme, faults):
    """Opens one page once and adds what is wrong."""
    name = f"{path.name} at {width} px, {scheme}"
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True
    )
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    requests = []
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda said: faults.append(f"{name}: console: {said.text}"))
    page.on("pageerror", lambda error: faults.append(f"{name}: error: {error}"))
    page.goto(path.as_uri())
    outside = [url for url in requests if url != path.as_uri()]
    faults.extend(f"{name}: asks for {url}" for url in outside)
    if page.evaluate("document.documentElement.lang") != "en":
        faults.append(f"{name}: no language")
    if page.evaluate("document.documentElement.scrollWidth") > width:
        faults.append(f"{name}: wider than the screen")
    for what, script in [("pictures without words", PICTURES), ("tables without heads", TABLES)]:
        number = page.evaluate(script)
        if number:
            faults.append(f"{name}: {number} {what}")
    faults.extend(f"{name}: cut: {text}" for text in page.evaluate(CUT))
    found = Axe().run(page).response["violations"]
    for violation in found:
        nodes = ", ".join(" ".join(node["target"]) for node in violation["nodes"][:3])
        faults.append(f"{name}: axe: {violation['id']}: {violation['help']} ({nodes})")
    context.close()


def shoot(browser, path, folder):
    """Leaves pictures of every section of a page."""
    kinds = [(width, scheme) for width in WIDTHS for scheme in SCHEMES]
    for width, kind in [*kinds, (1440, "grey"), (794, "print")]:
        scheme = kind if kind in SCHEMES else "light"
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme
        )
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto(path.as_uri())
        if kind == "print":
            page.emulate_media(media="print")
        if kind == "grey":
            page.evaluate("document.documentElement.style.filter = 'grayscale(1)'")
        parts = page.query_selector_all("header, section")
        for number, part in enumerate(parts):
            part.screenshot(path=folder / f"{path.stem}-{number:02}-{width}-{kind}.png")
        context.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pages", nargs="*", type=pathlib.Path, metavar="PAGE")
    parser.add_argument("--shots", type=pathlib.Path, metavar="FOLDER")
    arguments = parser.parse_args()
    pages = [page.resolve() for page in arguments.pages] or sorted(PAGES.glob("*.html"))
    browser_path = next((path for path in BROWSERS if pathlib.Path(path).exists()), None)
    if not pages or browser_path is None:
        sys.exit(f"{len(pages)} pages in {PAGES}, browser: {browser_path}")
    faults = []
    looks = 0
    with sync_playwright() as playwright:
        # A sandbox of its own is refused to root in containers; pages are our own files.
        options = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=browser_path, args=options)
        for path in pages:
            size = path.stat().st_size
            if size >= PAGE_BYTES_MAX:
                faults.append(f"{path.name}: {size} bytes")
            for width in WIDTHS:
                for scheme in SCHEMES:
                    look(browser, path, width, scheme, faults)
                    looks += 1
            if arguments.shots:
                arguments.shots.mkdir(parents=True, exist_ok=True)
                shoot(browser, path, arguments.shots)
        browser.close()
    for fault in faults:
        print(fault)
    print(f"{looks} looks at {len(pages)} pages: {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
