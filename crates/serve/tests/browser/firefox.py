"""Uses the pages of `steadfast serve` in Firefox: signs in, protects, checks, reads the result, and
opens every page on a telephone, a tablet and a desk, in light and dark.

Firefox is told what to do by Marionette, its own protocol, so it needs no driver. axe and the
longer tour are Chromium's, in `serve.py`.
"""

import argparse
import base64
import itertools
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from serve import PAGES, SCHEMES, WIDTHS, Served

PROGRAMS = ["firefox-esr", "firefox"]
PASSWORD = "a password of thirty letters ok"
# On a busy machine, Firefox takes a minute to start.
PATIENCE_S = 300

# What Firefox says of pages; the messages of its own windows are not ours.
COMPLAINTS = """
    const ours = Services.console.getMessageArray().filter((said) =>
        said instanceof Ci.nsIScriptError && /^https?:/.test(said.sourceName));
    const told = ours.map((said) => `${said.sourceName}:${said.lineNumber} ${said.errorMessage}`);
    Services.console.reset();
    return told;"""

# The colours that the system likes.
WISHES = """
    Services.prefs.setIntPref("layout.css.prefers-color-scheme.content-override", arguments[0]);"""

# Windows cannot be as narrow as a telephone; what a window shows can.
RESIZE = """
    const style = gBrowser.selectedBrowser.style;
    style.width = style.minWidth = style.maxWidth = `${arguments[0]}px`;"""


class Firefox:
    """A Firefox without a window."""

    def __init__(self, program, folder):
        profile = folder / "profile"
        profile.mkdir()
        (profile / "user.js").write_text('user_pref("marionette.port", 0);\n')
        words = [program, "--headless", "--no-remote", "--profile", profile, "--marionette"]
        words += ["--remote-allow-system-access", "about:blank"]
        environment = {**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": f"{folder}/cache"}
        quiet = subprocess.DEVNULL
        self.process = subprocess.Popen(words, env=environment, stdout=quiet, stderr=quiet)
        self.numbers = itertools.count(1)
        told = profile / "MarionetteActivePort"
        self.wait(lambda: told.exists() and told.read_text(), "Marionette")
        self.stream = socket.create_connection(("127.0.0.1", int(told.read_text())), PATIENCE_S)
        self.answers = self.stream.makefile("rb")
        self.read()
        self.version = self.ask("WebDriver:NewSession")["capabilities"]["browserVersion"]

    def read(self):
        length = b""
        while not length.endswith(b":"):
            length += self.answers.read(1)
        return json.loads(self.answers.read(int(length[:-1])))

    def ask(self, command, **arguments):
        """Sends a command, and returns the answer. An error is an answer too, and ends the test."""
        said = json.dumps([0, next(self.numbers), command, arguments]).encode()
        self.stream.sendall(str(len(said)).encode() + b":" + said)
        _, _, error, answer = self.read()
        if error:
            raise RuntimeError(f"{command} {arguments}: {error['message']}")
        return answer

    def run(self, script, *arguments, context="content"):
        """Runs a script in the page, or in Firefox itself, and returns its result."""
        self.ask("Marionette:SetContext", value=context)
        answer = self.ask("WebDriver:ExecuteScript", script=script, args=arguments)["value"]
        self.ask("Marionette:SetContext", value="content")
        return answer

    def wait(self, is_so, what):
        until = time.monotonic() + PATIENCE_S
        while not is_so():
            if time.monotonic() > until:
                raise RuntimeError(f"waited in vain: {what}")
            time.sleep(0.05)

    def go(self, address):
        self.ask("WebDriver:Navigate", url=address)

    def shown(self):
        # Between two pages there is nothing.
        return self.run("return document.querySelector('main')?.innerText;") or ""

    def until_shown(self, words):
        """Waits until the page says something."""
        self.wait(lambda: words in self.shown(), words)

    def find(self, path):
        answer = self.ask("WebDriver:FindElement", using="xpath", value=path)["value"]
        return next(iter(answer.values()))

    def press(self, words):
        """Presses the first button or link that says this."""
        said = f"[normalize-space(.)='{words}']"
        self.ask("WebDriver:ElementClick", id=self.find(f"//main//button{said} | //main//a{said}"))

    def type(self, name, text):
        field = self.find(f"//main//input[@name='{name}']")
        self.ask("WebDriver:ElementSendKeys", id=field, text=text)

    def picture(self, path):
        shot = self.ask("WebDriver:TakeScreenshot", full=True)["value"]
        path.write_bytes(base64.b64decode(shot))

    def end(self):
        self.ask("Marionette:Quit", flags=["eForceQuit"])
        self.process.wait(PATIENCE_S)


def use(firefox, served):
    """Signs in, protects the archive, damages a file, and sees what a check says."""
    firefox.go(served.origin + "/")
    firefox.type("password", PASSWORD)
    firefox.press("Sign in")
    firefox.until_shown("Protect your first folder")
    firefox.press("Protect this folder")
    firefox.until_shown("What is written")
    firefox.press("Protect this folder")
    firefox.until_shown("protected now")
    served.decay("photos/picture-07.jpg")
    firefox.go(served.origin + "/folders/0")
    firefox.press("Check now")
    firefox.until_shown("1 file is damaged")
    firefox.until_shown("picture-07.jpg")
    # The page of a run is loaded anew when the run has ended, and a press just before is lost.
    ended = "return document.readyState == 'complete' && !document.querySelector('[data-events]');"
    firefox.wait(lambda: firefox.run(ended), "the page of the check that has ended")
    checked = firefox.run("return location.pathname;")
    firefox.press("Repair 1 damaged file…")
    firefox.until_shown("cannot be repaired yet")
    # Keys lead to pages, and choose a speed.
    firefox.go(served.origin + "/run?place=0/")
    bicycle = firefox.find("//input[@name='pace'][@value='2']")
    firefox.ask("WebDriver:ElementSendKeys", id=bicycle, text="\ue012\ue012")
    chosen = "return document.querySelector('[name=pace]:checked').value;"
    firefox.wait(lambda: firefox.run(chosen) == "0", "the slowest speed")
    body = firefox.find("//body")
    firefox.ask("WebDriver:ElementSendKeys", id=body, text="gs")
    firefox.until_shown("Settings")
    return checked


def every_page(firefox, served, checked, faults, shots):
    """Opens every page in every form, and returns how many looks these were."""
    pages = PAGES | {"checked": checked}
    forms = [(width, "light") for width in WIDTHS]
    forms += [(1440, "dark"), (390, "dark")]
    for width, scheme in forms:
        firefox.run(WISHES, 1 - SCHEMES.index(scheme), context="chrome")
        firefox.run(RESIZE, width, context="chrome")
        for title, page in pages.items():
            firefox.go(served.origin + page)
            name = f"{page} at {width} px, {scheme}"
            state = firefox.run("""
                const root = document.documentElement;
                const dark = matchMedia("(prefers-color-scheme: dark)").matches;
                const ink = getComputedStyle(document.body).color.match(/\\d+/g).map(Number);
                return { lang: root.lang, inner: innerWidth, title: document.title, dark,
                    over: root.scrollWidth - root.clientWidth, bright: Math.max(...ink) > 128 };""")
            if state["inner"] != width:
                faults.append(f"{name}: shown at {state['inner']} px")
            if state["over"] > 0:
                faults.append(f"{name}: wider than the screen by {state['over']} px")
            if state["lang"] != "en":
                faults.append(f"{name}: has the language {state['lang']}")
            if not state["dark"] == state["bright"] == (scheme == "dark"):
                faults.append(f"{name}: not {scheme}: {state}")
            if "Steadfast" not in state["title"]:
                faults.append(f"{name}: has the title {state['title']}")
            told = firefox.run(COMPLAINTS, context="chrome")
            faults.extend(f"{name}: console: {words}" for words in told)
            if shots:
                firefox.picture(shots / f"firefox-{title}-{width}-{scheme}.png")
    return len(forms) * len(pages)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", type=pathlib.Path, metavar="PROGRAM")
    parser.add_argument("--shots", type=pathlib.Path, metavar="FOLDER")
    arguments = parser.parse_args()
    found = next(filter(None, map(shutil.which, PROGRAMS)), None)
    if found is None:
        sys.exit(f"no browser: none of {', '.join(PROGRAMS)}")
    if arguments.shots:
        arguments.shots.mkdir(parents=True, exist_ok=True)
    begun, faults = time.monotonic(), []
    program = arguments.program.resolve()
    with tempfile.TemporaryDirectory(dir=program.parent) as folder:
        folder = pathlib.Path(folder)
        served = Served(program, folder, password=PASSWORD)
        firefox = Firefox(found, folder)
        try:
            checked = use(firefox, served)
            looks = every_page(firefox, served, checked, faults, arguments.shots)
        except RuntimeError:
            print(firefox.run("return location.href;"), firefox.shown(), sep="\n")
            raise
        finally:
            firefox.end()
            status = served.end()
        if status != 0:
            faults.append(f"the server ended with status {status}")
    for fault in faults:
        print(fault)
    seconds = time.monotonic() - begun
    print(f"Firefox {firefox.version}: {looks} looks, {seconds:.0f} s: {len(faults)} faults")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
