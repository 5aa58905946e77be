"""Renews the snapshot of published advisories: `python3 xtask/advisories.py CLONE`.

CLONE is a clone of https://github.com/rustsec/advisory-db. Each advisory is a Markdown file that
begins with TOML; those that were withdrawn are left out.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

clone = Path(sys.argv[1])
head = subprocess.run(
    ["git", "-C", clone, "log", "-1", "--format=%cs, commit %H"],
    capture_output=True,
    text=True,
    check=True,
).stdout.strip()
rows = []
for path in clone.glob("crates/*/RUSTSEC-*.md"):
    text = path.read_text(encoding="utf-8")
    facts = tomllib.loads(text.split("```toml\n", 1)[1].split("```", 1)[0])
    advisory, versions = facts["advisory"], facts.get("versions", {})
    if "withdrawn" in advisory:
        continue
    fine = " || ".join(versions.get("patched", []) + versions.get("unaffected", []))
    kind = advisory.get("informational", "vulnerability")
    rows.append((advisory["package"], advisory["id"], kind, fine))
columns = "number, package, kind, versions that are not affected"
lines = [f"# The advisories of https://github.com/rustsec/advisory-db (CC0-1.0), {head}: {columns}"]
lines += ["\t".join((id, package, *rest)) for package, id, *rest in sorted(rows)]
Path(__file__).with_suffix(".tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")
