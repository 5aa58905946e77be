"""Uses the pages of `steadfast serve` in Chromium as a person would, and holds every page against
what it promises.

Nothing is asked of another server, the console stays silent, axe finds nothing in light or dark on
a telephone or a desk, nothing is wider than the screen. With `--shots FOLDER`, pictures of every
page are left there for who wants to look.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect, sync_playwright

BROWSERS = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"]
SEALED = pathlib.Path(__file__).resolve().parents[4] / "testdata/codesign/signed-tool"
WIDTHS = [390, 768, 1440]
SCHEMES = ["light", "dark"]
# Pages that are there without a run.
PAGES = {
    "home": "/",
    "folder-page": "/folders/0",
    "files": "/folders/0/files",
    "add": "/add",
    "protect": "/add?place=0/photos",
    "activity": "/activity",
    "settings": "/settings",
    "browse": "/browse?place=0/",
    "folder": "/browse?place=0/photos",
    "run": "/run?place=0/",
    "drop": "/drop",
    "measure": "/measure",
    "compare": "/compare",
    "code": "/code",
    "sealed": "/code?place=0/damaged-tool",
    "history": "/history?place=0/",
    "file": "/history?place=0/photos/picture-07.jpg",
    "copies": "/copies?place=0/",
    "differences": "/differences?place=0/",
    "copy": "/copy?from=0/photos",
    "safe": "/safe",
    "gone": "/nowhere",
}
# On a busy machine, a page takes a minute.
PATIENCE_MS = 300_000
# Wider than a telephone in every font, and nowhere to break it.
LONG_NAME = "archive" * 12

# A drop as the browser reports it: the files are made in the page.
DROP = """(name) => {
    const data = new DataTransfer();
    data.items.add(new File(['dropped by hand'], name));
    for (const kind of ['dragover', 'drop'])
        document.getElementById('drop').dispatchEvent(
            new DragEvent(kind, { dataTransfer: data, bubbles: true, cancelable: true }));
}"""

# A drop of words, which the page must leave to the browser.
DROP_WORDS = """() => {
    const data = new DataTransfer();
    data.setData('text/plain', 'no file');
    return document.body.dispatchEvent(
        new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
}"""


class Served:
    """A server on a small archive, ended at the end."""

    def __init__(self, program, folder, password=None, sees_writes=False):
        self.tree = folder / LONG_NAME
        (self.tree / "photos").mkdir(parents=True)
        for number in range(12):
            picture = self.tree / f"photos/picture-{number:02}.jpg"
            picture.write_bytes(bytes([number]) * 300_000)
        (self.tree / "letter.txt").write_text("Dear reader,\n")
        (self.tree / "photos" / LONG_NAME).write_text("a name that offers no place to break\n")
        shutil.copy(SEALED, self.tree / "signed-tool")
        damaged = bytearray(SEALED.read_bytes())
        damaged[5000] ^= 1
        (self.tree / "damaged-tool").write_bytes(damaged)
        records = folder / "records"
        records.mkdir()
        runtime = folder / "runtime"
        runtime.mkdir(mode=0o700)
        self.program, self.told = program, runtime / "steadfast"
        self.environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "TMPDIR": str(runtime)}
        # Decay is played from above the file system, which moves the change time. A program that
        # keeps dates moves it too.
        if not sees_writes:
            self.environment["STEADFAST_IGNORE_CTIME"] = "1"
        # A home of its own, and none of the machine's timers.
        home = {"HOME": f"{folder}", "XDG_CONFIG_HOME": f"{folder}/c", "XDG_STATE_HOME": f"{folder}/s"}
        self.environment |= {**home, "PATH": "/nowhere"}
        words = [program, "serve", "--no-open", "--records", records]
        if password:
            secret = folder / "secret"
            asked = [program, "serve", "--hash-password"]
            with open(secret, "w") as kept:
                subprocess.run(asked, input=password, stdout=kept, text=True, check=True)
            words += ["--password-file", secret]
        words.append(self.tree)
        self.process = subprocess.Popen(
            words, stdout=subprocess.PIPE, text=True, env=self.environment
        )
        self.entrance = self.process.stdout.readline().strip()
        self.origin = self.entrance.split("/enter")[0].rstrip("/")

    def ticket(self):
        """Returns an address that lets one browser in. The printed one does so once."""
        while not self.told.is_dir() or not any(self.told.iterdir()):
            time.sleep(0.05)
        words = [self.program, "serve", "--open", "--no-open", self.tree]
        asked = subprocess.run(
            words, stdout=subprocess.PIPE, text=True, env=self.environment, check=True
        )
        return asked.stdout.strip()

    def decay(self, name):
        """Changes one bit and keeps the times, as a failing disk does."""
        path = self.tree / name
        before = path.stat()
        contents = bytearray(path.read_bytes())
        contents[1000] ^= 4
        path.write_bytes(contents)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def end(self):
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(20)


class Visit:
    """A browser's window that notes whatever should not happen."""

    def __init__(self, browser, served, faults, **wishes):
        self.context = browser.new_context(**wishes)
        self.context.set_default_timeout(PATIENCE_MS)
        self.served, self.faults = served, faults
        self.context.on("request", self.asked)
        self.page = self.tab()
        self.page.goto(served.ticket())
        self.page.wait_for_url(re.compile(r"//[^/]+/(add\?place=0|folders/0)"))
        self.page.goto(served.origin + "/")

    def asked(self, request):
        if not request.url.startswith((self.served.origin + "/", "data:", "blob:")):
            self.faults.append(f"asks for {request.url}")

    def heard(self, url, text):
        # The browser says of the page that is not there that it is not there.
        if not url.endswith(PAGES["gone"]):
            self.faults.append(f"{url}: console: {text}")

    def tab(self):
        page = self.context.new_page()
        page.on("console", lambda said: self.heard(page.url, said.text))
        page.on("pageerror", lambda error: self.faults.append(f"{page.url}: error: {error}"))
        return page

    def go(self, path):
        self.page.goto(self.served.origin + path)
        return self.page


VERBS = {"Check": "Check", "Tag": "Protect new files", "Update": "Accept all changes"}


def begin_run(page, origin, verb, place="0/"):
    page.goto(f"{origin}/run?place={place}")
    page.get_by_role("button", name=VERBS[verb], exact=True).click()
    page.wait_for_url(re.compile(r"/runs/\d+"))


def wait_for_end(page):
    expect(page.locator(".document").first).to_be_attached(timeout=PATIENCE_MS)


def tag_and_check(visit):
    """Tags, damages a file, checks, and sees it."""
    page, origin = visit.page, visit.served.origin
    begun = time.monotonic()
    page.goto(origin + "/")
    page.get_by_role("link", name="Protect this folder").first.click()
    expect(page.locator("main")).to_contain_text("What is written")
    page.get_by_role("button", name="Protect this folder").click()
    wait_for_end(page)
    expect(page.locator("h1")).to_contain_text("protected now")
    print(f"protected after 2 clicks and {time.monotonic() - begun:.1f} s")
    visit.served.decay("photos/picture-07.jpg")
    (visit.served.tree / "letter.txt").write_text("Dear reader, I have changed my mind.\n")
    begin_run(page, origin, "Check")
    wait_for_end(page)
    expect(page.locator(".find").first).to_contain_text("picture-07.jpg")
    expect(page.locator("h1")).to_contain_text("1 file is damaged")
    page.goto(origin + "/")
    expect(page.locator("h1")).to_contain_text("needs your attention")
    page.get_by_role("link", name="Show 1 damaged file").first.click()
    expect(page.locator(".find").first).to_contain_text("picture-07.jpg")
    page.get_by_role("button", name="Repair…").first.click()
    expect(page.locator("main")).to_contain_text("cannot be repaired yet")


def tasks(visit):
    """Does what owners need, from the first page on, and counts clicks and seconds."""
    page, tree = visit.page, visit.served.tree
    done = []

    def task(name, *clicks, says, runs=False):
        page.goto(visit.served.origin + "/")
        begun = time.monotonic()
        for click in clicks:
            click()
        if runs:
            page.wait_for_url(re.compile(r"/runs/\d+"))
            wait_for_end(page)
        expect(page.locator("main")).to_contain_text(says)
        done.append(f"{name}: {len(clicks)} clicks, {time.monotonic() - begun:.1f} s")
        assert len(clicks) <= 3, done[-1]

    folder = lambda: page.locator("article.folder h2 a").first.click()
    button = lambda name: lambda: page.get_by_role("button", name=name).first.click()
    link = lambda name: lambda: page.get_by_role("link", name=name).first.click()
    menu = lambda: page.locator("details.menu > summary").first.click()
    good = (tree / "photos/picture-07.jpg").read_bytes()
    copy = bytearray(good)
    copy[1000] ^= 4
    (tree / "copies").mkdir()
    (tree / "copies/picture-07.jpg").write_bytes(copy)

    def choose_copy():
        page.get_by_label("The folder or file that has the copy").fill(str(tree / "copies"))
        page.get_by_role("button", name="See what it can repair").click()

    task("see what is damaged", link("Show 1 damaged file"), says="picture-07.jpg")
    task("see the life of a file", link("Show 1 damaged file"), link("History"), says="Found damaged")
    task("learn what to do without a copy", link("Show 1 damaged file"), button("Repair…"),
         says="What you can do now")
    task("repair from another copy", menu, link("Repair from another copy"), choose_copy, says="put")
    button("Put back 1 file")()
    expect(page.locator("main")).to_contain_text("Throw them away")
    task("throw away the originals", folder, button("Throw them away"), says="Repair data")
    expect(page.get_by_role("button", name="Throw them away")).to_have_count(0)
    task("test an alert", link("Settings"), button("Test webhook"), says="not delivered")
    (tree / "letter.txt").write_text("Dear reader, now I am sure.\n")
    begin_run(page, visit.served.origin, "Check")
    wait_for_end(page)
    task("accept all changes", folder, button("It was me: accept"), says="accepted", runs=True)
    (tree / "letter.txt").unlink()
    begin_run(page, visit.served.origin, "Check")
    wait_for_end(page)
    task("say that I removed it", folder, button("I removed them"), says="accepted", runs=True)
    task("make repair data", folder, button("Make repair data"), says="without a backup")
    visit.served.decay("photos/picture-08.jpg")
    begin_run(page, visit.served.origin, "Check")
    wait_for_end(page)
    task("repair from repair data", link("Show 1 damaged file"), button("Repair…"),
         button("Put back 1 file"), says="Throw them away")
    visit.served.decay("photos/picture-07.jpg")
    begin_run(page, visit.served.origin, "Check")
    wait_for_end(page)
    task("renew repair data", folder, button("Renew it"), says="without a backup")
    task("compare two folders", menu, link("Compare with another folder"), says="with which folder")
    task("protect new files", menu, button("Protect new files"), says="protected now", runs=True)
    task("add and protect a folder", link("Add a folder"), link("choose photos"),
         button("Protect this folder"), says="13 files recorded already", runs=True)
    task("reach the last result", link("Activity"), lambda: page.locator(".event a").first.click(),
         says="This run")
    print("\n".join(done))
    # The findings of the first runs are not in memory any more.
    return page.url.removeprefix(visit.served.origin)


def questions(browser, program, folder, faults):
    """What only the owner can know is asked. Both answers are reached from home, one by one."""
    folder.mkdir()
    served = Served(program, folder, sees_writes=True)
    visit = Visit(browser, served, faults, viewport={"width": 1440, "height": 900})
    page, origin = visit.page, served.origin
    page.goto(origin + "/add?place=0/")
    page.get_by_role("button", name="Protect this folder").click()
    wait_for_end(page)
    page.goto(origin + "/folders/0")
    page.get_by_role("button", name="Make repair data").click()
    expect(page.locator("h1")).to_contain_text("without a backup")
    names = [f"photos/picture-0{number}.jpg" for number in (5, 6, 7)]
    before = [(served.tree / name).read_bytes() for name in names]
    for name in names:
        served.decay(name)
    begin_run(page, origin, "Check")
    wait_for_end(page)
    expect(page.locator("h1")).not_to_contain_text("damaged")

    def card(number, left):
        page.goto(origin + "/")
        expect(page.locator("h1")).to_contain_text("needs your attention")
        page.get_by_role("link", name=f"Show {left} file").first.click()
        group = page.locator("section.group", has_text=f"{left} changed and kept")
        expect(group.locator(".find")).to_have_count(left)
        return group.locator(".find", has_text=f"picture-0{number}.jpg")

    card(5, 3).get_by_role("button", name="It was me, keep it").click()
    wait_for_end(page)
    expect(page.locator("h1")).to_contain_text("1 file is recorded as it is now")
    # Repair data of before stays, because it may be all that is left of the file.
    expect(page.locator("main")).to_contain_text("needs a look")
    expect(page.locator(".document").first).to_contain_text("still needed")
    card(6, 2).get_by_role("button", name="Restore…").click()
    page.get_by_role("button", name="Put back 1 file").click()
    expect(page.locator("h1")).to_contain_text("exactly as recorded again")
    card(7, 1)
    page.get_by_role("button", name="It was me: keep").click()
    wait_for_end(page)
    begin_run(page, origin, "Check")
    wait_for_end(page)
    expect(page.locator("h1")).to_contain_text("exactly as recorded")
    now = [(served.tree / name).read_bytes() for name in names]
    if [a == b for a, b in zip(now, before)] != [False, True, False]:
        faults.append("the answers to “was it you?” did other than they say")
    visit.context.close()
    served.end()


REACHED = """() => {
    const here = document.activeElement;
    const shown = (node) => {
        const style = getComputedStyle(node);
        return style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    };
    const at = [here, here.closest("label"), here.nextElementSibling].filter(Boolean);
    // Lists that are loaded anew have other elements, which say the same.
    (window.reached ??= new Set()).add(here.type === "radio" ? here.name : here.outerHTML);
    return here === document.body || at.some(shown) || here.id === "content" ? "" : here.outerHTML;
}"""

# What a key should reach: one of several radio buttons is enough.
UNREACHED = """() => {
    const all = "a[href], button:enabled, input:enabled:not([type=hidden]), select, textarea, summary";
    const seen = (node) => node.checkVisibility({ contentVisibilityAuto: true });
    const key = (node) => node.type === "radio" ? node.name : node.outerHTML;
    return [...document.querySelectorAll(all)].filter((node) =>
        seen(node) && !window.reached.has(key(node))).map((node) => node.outerHTML);
}"""


def by_keyboard(visit, path):
    """Every action of a page is reached by the tab key, and shows that it is."""
    page = visit.go(path)
    actions = len(page.query_selector_all("a, button, input, select, textarea, summary"))
    for _ in range(actions + 2):
        page.keyboard.press("Tab")
        unseen = page.evaluate(REACHED)
        if unseen:
            visit.faults.append(f"{path}: no visible focus: {unseen[:120]}")
    visit.faults.extend(f"{path}: no key reaches {one[:120]}" for one in page.evaluate(UNREACHED))


def enlarged_and_printed(visit, path):
    """At 200 % nothing runs over; on paper there is ink on white, and no bars or buttons."""
    page = visit.go(path)
    for width in [768, 1440]:
        page.set_viewport_size({"width": width, "height": 900})
        page.evaluate("document.documentElement.style.fontSize = '200%'")
        if page.evaluate("document.documentElement.scrollWidth") > width:
            visit.faults.append(f"{path}: wider than the screen at 200 % of {width} px")
    page.evaluate("document.documentElement.style.fontSize = ''")
    page.emulate_media(media="print", color_scheme="dark")
    for part in [".side", ".acts", ".find .row"]:
        if page.locator(part).first.is_visible():
            visit.faults.append(f"{path}: {part} is printed")
    ink = page.evaluate("getComputedStyle(document.body).color")
    if max(map(int, re.findall(r"\d+", ink)[:3])) > 128:
        visit.faults.append(f"{path}: printed in {ink}")
    page.emulate_media(media="screen", color_scheme="light")


def keeps_open(visit):
    """A menu that was opened while the page asked for its state anew stays open."""
    page, held = visit.page, []
    at = visit.served.origin + "/"
    asks = lambda route: route.request.resource_type == "fetch"
    page.route(at, lambda route: held.append(route) if asks(route) else route.continue_())
    visit.go("/")
    while not held:
        page.wait_for_timeout(100)
    page.locator("details.menu > summary").first.click()
    answer = held[0].fetch()
    held[0].fulfill(response=answer, body=answer.text().replace("<h1>", "<h1>Anew: "))
    page.wait_for_timeout(500)
    expect(page.get_by_role("link", name="Copy to a drive").nth(1)).to_be_visible()
    page.keyboard.press("Escape")
    page.unroute_all(behavior="ignoreErrors")


def without_script(browser, served, faults):
    """A check is begun, followed to its end and read without the page's script."""
    visit = Visit(browser, served, faults, viewport={"width": 1440, "height": 900},
                  java_script_enabled=False)
    page = visit.page
    begin_run(page, served.origin, "Check")
    wait_for_end(page)
    expect(page.locator("h1")).to_contain_text("damaged")
    page.get_by_role("button", name=re.compile("^Repair 1")).first.click()
    expect(page.locator("main")).to_contain_text("This is a plan")
    for path in PAGES.values():
        visit.go(path)
        expect(page.locator("h1").first).to_be_visible()
    visit.context.close()


def scroll(visit):
    """More files than one part of the list come as one scrolls, each with its exact time."""
    many = visit.served.tree / "many"
    many.mkdir()
    for number in range(450):
        (many / f"{number:03}").write_text(str(number))
    begin_run(visit.page, visit.served.origin, "Update")
    wait_for_end(visit.page)
    page = visit.go("/folders/0/files?words=many/")
    rows = page.locator("table.grid tbody tr:not(.more)")
    expect(rows).to_have_count(200)
    for count in [400, 450]:
        page.keyboard.press("End")
        expect(rows).to_have_count(count)
    expect(page.locator("tr.more")).to_have_count(0)
    expect(page.locator("time:not([title])")).to_have_count(0)


def look_after(visit):
    """Makes a schedule and an alert, and tries the alert."""
    page = visit.go("/folders/0")
    page.get_by_label("How often").select_option("week")
    page.get_by_label("At", exact=True).fill("03:30")
    page.get_by_role("button", name="Check regularly").click()
    page.get_by_text("Change the schedule").click()
    expect(page.get_by_role("button", name="Remove the schedule")).to_be_visible()
    expect(page.get_by_label("At", exact=True)).to_have_value("03:30")
    page = visit.go("/settings")
    page.get_by_label("To the address").fill("http://127.0.0.1:9/secret")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator("main")).to_contain_text("webhook 127.0.0.1:9 (json)")
    page.get_by_role("button", name=re.compile("^Test webhook")).click()
    expect(page.locator("main")).to_contain_text("not delivered")


def slide(visit):
    """The speed goes from tortoise to racing car by key, and says what it means."""
    page = visit.go("/run?place=0/")
    says = page.locator(".says li:visible")
    page.get_by_role("radio", name="Tortoise").check()
    expect(says).to_contain_text("background")
    for _ in range(4):
        page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Racing car")).to_be_checked()
    expect(says).to_contain_text("all that the computer has")


def two_tabs(visit):
    """Two tabs see the same run; closing one ends nothing."""
    page, origin = visit.page, visit.served.origin
    # Takes seconds to read and no room.
    with open(visit.served.tree / "long", "wb") as long:
        long.truncate(12 << 30)
    begin_run(page, origin, "Tag", "0/long")
    run = page.url
    other = visit.tab()
    other.goto(run)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        look(visit, "a run that goes on", width, "light")
    with page.expect_response(re.compile("/pace$")):
        page.get_by_role("radio", name="Tortoise").check()
    other.reload()
    expect(other.get_by_role("radio", name="Tortoise")).to_be_checked()
    page.get_by_role("button", name="Pause").click()
    expect(other.locator(".stand")).to_contain_text("Paused")
    expect(page.locator(".stand")).to_contain_text("Paused")
    page.close()
    visit.page = other
    other.get_by_role("button", name="Go on").click()
    expect(other.locator(".stand")).not_to_contain_text("Paused")
    other.get_by_role("button", name="Stop").click()
    wait_for_end(other)
    expect(other.locator("main")).to_contain_text("interrupted")
    (visit.served.tree / "long").unlink()


def drop(visit):
    """Files are chosen, and dropped; one is known, one is not, one differs."""
    tree = visit.served.tree
    page = visit.go("/drop")
    known = (tree / "photos/picture-03.jpg").read_bytes()
    page.locator("#drop-files").set_input_files([
        {"name": "found.jpg", "mimeType": "image/jpeg", "buffer": known},
        {"name": "letter.txt", "mimeType": "text/plain", "buffer": b"another letter"},
        {"name": "new.txt", "mimeType": "text/plain", "buffer": b"never seen"},
    ])
    page.wait_for_url(re.compile(r"/drop/\d+"))
    answers = page.locator(".group")
    expect(answers).to_have_count(3)
    expect(answers.nth(0)).to_contain_text("unlike the recorded file")
    expect(answers.nth(1)).to_contain_text("not known here")
    expect(answers.nth(2)).to_contain_text("here, and the same")
    expect(answers.nth(2)).to_contain_text("picture-03.jpg")
    dropped = page.url.removeprefix(visit.served.origin)
    page = visit.go("/drop")
    assert page.evaluate(DROP_WORDS), "words are not files"
    page.evaluate(DROP, "thrown.txt")
    page.wait_for_url(re.compile(r"/drop/\d+"))
    expect(page.locator(".find")).to_contain_text("thrown.txt")
    # What a desktop hands over is looked at without a further click.
    page = visit.go("/drop?place=0/photos/picture-07.jpg")
    page.wait_for_url(re.compile(r"/drop/\d+"))
    expect(page.locator(".find")).to_contain_text("Damaged")
    return dropped


def measure(visit):
    """Measures a little, sees samples come, keeps them, compares them."""
    page = visit.go("/measure")
    page.get_by_label("How fast does the processor hash?").check()
    # The quick profile may end before a busy browser shows its first sample.
    page.get_by_label("How thoroughly").select_option("standard")
    page.get_by_role("button", name="Measure", exact=True).click()
    page.wait_for_url(re.compile(r"/measure/\d+"))
    expect(page.locator(".courses tbody tr").first).to_be_visible()
    going = page.url.removeprefix(visit.served.origin)
    look(visit, going, 1440, "light")
    page.get_by_role("button", name="Stop and keep the samples").click()
    wait_for_end(page)
    ended = page.url.removeprefix(visit.served.origin)
    record = page.request.get(visit.served.origin + ended + "/record").body()
    page = visit.go("/compare")
    page.locator("#record-file").set_input_files(
        {"name": "spoilt.json", "mimeType": "application/json", "buffer": record[:-40]}
    )
    expect(page.locator("#record-said")).to_contain_text("line")
    # The refusal is an answer; that the browser notes it is no fault of the page.
    visit.faults[:] = [fault for fault in visit.faults if "422" not in fault]
    page.locator("#record-file").set_input_files(
        {"name": "theirs.json", "mimeType": "application/json", "buffer": record}
    )
    page.wait_for_url(re.compile(r"added=added-1"))
    expect(page.get_by_label("theirs.json")).to_be_checked()
    page.get_by_label("kernels 1").check()
    page.get_by_role("button", name="Show them").click()
    wait_for_end_of_compare(page)
    return ended, page.url.removeprefix(visit.served.origin)


def wait_for_end_of_compare(page):
    expect(page.locator(".document article").first).to_be_visible()


def look(visit, path, width, scheme):
    """Holds the page that is open against what all pages promise."""
    page = visit.page
    name = f"{path} at {width} px, {scheme}"
    if page.evaluate("document.documentElement.scrollWidth") > width:
        visit.faults.append(f"{name}: wider than the screen")
    for violation in Axe().run(page).response["violations"]:
        nodes = ", ".join(" ".join(node["target"]) for node in violation["nodes"][:3])
        visit.faults.append(f"{name}: axe: {violation['id']}: {violation['help']} ({nodes})")


def every_page(browser, served, paths, faults, shots):
    """Opens every page in every form, and leaves pictures if they are wanted."""
    looks = 0
    for width in WIDTHS:
        for scheme in SCHEMES:
            # A browser that was let in once is let in for all of its pages.
            size = {"width": width, "height": 900}
            visit = Visit(browser, served, faults, viewport=size, color_scheme=scheme)
            for title, path in paths.items():
                page = visit.go(path)
                look(visit, path, width, scheme)
                looks += 1
                if shots:
                    page.screenshot(path=shots / f"{title}-{width}-{scheme}.png", full_page=True)
            visit.context.close()
    return looks


def use(browser, served, faults, shots):
    begun = time.monotonic()
    visit = Visit(browser, served, faults, viewport={"width": 1440, "height": 900})
    tag_and_check(visit)
    look_after(visit)
    scroll(visit)
    slide(visit)
    two_tabs(visit)
    dropped = drop(visit)
    reached = tasks(visit)
    keeps_open(visit)
    measured, compared = measure(visit)
    for path in ["/", "/folders/0", "/run?place=0/", reached, "/copies?place=0/", "/measure",
                 "/settings", "/compare"]:
        by_keyboard(visit, path)
        enlarged_and_printed(visit, path)
    visit.context.close()
    questions(browser, served.program, served.tree.parent / "questions", faults)
    without_script(browser, served, faults)
    made = {"reached": reached, "dropped": dropped, "measured": measured, "compared": compared}
    paths = PAGES | made
    looks = every_page(browser, served, paths, faults, shots)
    return looks, time.monotonic() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path, metavar="PROGRAM")
    parser.add_argument("--shots", type=pathlib.Path, metavar="FOLDER")
    arguments = parser.parse_args()
    browser_path = next((path for path in BROWSERS if pathlib.Path(path).exists()), None)
    if browser_path is None:
        sys.exit(f"no browser: none of {', '.join(BROWSERS)}")
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    faults = []
    expect.set_options(timeout=PATIENCE_MS)
    # Beside the program, where attributes work; the system's own folder may be in memory.
    beside = arguments.program.resolve().parent
    with tempfile.TemporaryDirectory(dir=beside) as folder, sync_playwright() as playwright:
        served = Served(arguments.program.resolve(), pathlib.Path(folder))
        # A sandbox of its own is refused to root in containers; pages are our own server's.
        options = ["--no-sandbox", "--disable-gpu"]
        browser = playwright.chromium.launch(executable_path=browser_path, args=options)
        try:
            looks, seconds = use(browser, served, faults, arguments.shots)
        finally:
            browser.close()
            status = served.end()
        if status != 0:
            faults.append(f"the server ended with status {status}")
    for fault in faults:
        print(fault)
    print(f"{looks} looks at the pages of the server, {seconds:.0f} s: {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
