#!/usr/bin/env python3
"""Writes the licences of every crate that is linked into Lockstep: installers/licences.py TARGET

Reads `cargo metadata` and the licence files that the crates ship, those of fonts in their folders too; equal texts are
printed once. A crate that ships no text gets the standard text of a licence that it names; where that is not possible
the script fails, so that no package is made without it.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

PROGRAMS = ("lockstep", "lockstep-cuda")
NAME = re.compile(r"^(un)?(licen[cs]e|copying|copyright|notice|ofl|ufl)", re.IGNORECASE)
# How the standard texts begin that are taken from another crate here.
STANDARD = {"MPL-2.0": "Mozilla Public License Version 2.0", "BSL-1.0": "Boost Software License - Version 1.0"}
ROOT = Path(__file__).resolve().parent.parent


def linked(target):
    """Packages that end up in the programs: no build scripts, no macros' own libraries, no tests."""
    command = ["cargo", "metadata", "--locked", "--format-version", "1", "--filter-platform", target]
    data = json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    packages = {package["id"]: package for package in data["packages"]}
    left = [one["id"] for one in packages.values() if one["name"] in PROGRAMS and one["source"] is None]
    seen = set()
    while left:
        one = left.pop()
        if one in seen:
            continue
        seen.add(one)
        for link in nodes[one]["deps"]:
            if any(kind["kind"] is None for kind in link["dep_kinds"]):
                left.append(link["pkg"])
    return sorted((packages[one] for one in seen if packages[one]["source"]), key=lambda p: (p["name"], p["version"]))


def texts(folder):
    """Licence files of the crate itself, and those of what lies in its folders, fonts above all."""
    own, inner = [], []
    for path, folders, files in os.walk(folder):
        depth = len(Path(path).relative_to(folder).parts)
        folders[:] = sorted(folders) if depth < 2 else []
        folders[:] = [name for name in folders if name not in ("src", "tests", "benches", "examples", "target")]
        fonts = any(name.endswith((".ttf", ".otf", ".woff2")) for name in files)
        for name in sorted(files):
            small = os.path.getsize(os.path.join(path, name)) < 200_000
            ours = NAME.match(name) and not name.endswith((".rs", ".toml"))
            if small and (ours or fonts and name.endswith(".txt")) and (depth == 0 or fonts or ours):
                text = Path(path, name).read_text(encoding="utf-8", errors="replace").strip()
                (inner if depth else own).append(text)
    return own, inner


def standard(package, shipped):
    """A licence's text for a crate that names it and ships none."""
    names = package["license"] or ""
    mit = (ROOT / "LICENSE-MIT").read_text(encoding="utf-8")
    if re.search(r"\bMIT\b", names):
        holders = ", ".join(package["authors"]) or f"the authors of {package['name']} ({package['repository']})"
        return f"MIT License\n\nCopyright (c) {holders}\n\n" + mit[mit.index("Permission is hereby granted") :].strip()
    if "Apache-2.0" in names:
        return (ROOT / "LICENSE-APACHE").read_text(encoding="utf-8").strip()
    for name, beginning in STANDARD.items():
        if name in names:
            for text in shipped:
                if text.startswith(beginning):
                    return text
    sys.exit(f"licences: {package['name']} {package['version']} ({names}) ships no licence text; add a rule for it")


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: installers/licences.py TARGET, for example x86_64-unknown-linux-gnu")
    packages = linked(sys.argv[1])
    found = {package["id"]: texts(os.path.dirname(package["manifest_path"])) for package in packages}
    shipped = [text for own, inner in found.values() for text in own + inner]
    groups = defaultdict(list)
    order = {}
    for package in packages:
        own, inner = found[package["id"]]
        for text in (own or [standard(package, shipped)]) + inner:
            key = hashlib.sha256(" ".join(text.split()).encode()).hexdigest()
            order.setdefault(key, text)
            groups[key].append(package)
    print(f"Libraries that are part of Lockstep for {sys.argv[1]}: {len(packages)}, with their licences.\n")
    for package in packages:
        source = f", source: {package['repository']}" if "MPL" in (package["license"] or "") else ""
        print(f"{package['name']} {package['version']}: {package['license']}{source}")
    for key, text in order.items():
        names = ", ".join(dict.fromkeys(f"{one['name']} {one['version']}" for one in groups[key]))
        print(f"\n{'-' * 100}\n{names}\n{'-' * 100}\n\n{text}")


if __name__ == "__main__":
    main()
