"""What was compiled and told once, kept in a folder: a second time is a look into a file."""

import hashlib
import json
import os
import pathlib


def folder():
    """$GRADUS_BOUNDS, else where the user's programs keep what can be made again."""
    named = os.environ.get("GRADUS_BOUNDS")
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(named or pathlib.Path(home) / "gradus-bounds")


class Store:
    """Values of JSON by the hash of what they follow from; a line each of one file, which several may write."""

    def __init__(self, where, name):
        self.path = pathlib.Path(where) / f"{name}.jsonl"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.known = {}
        if self.path.exists():
            for line in self.path.read_text(encoding="utf-8").splitlines():
                try:
                    key, value = json.loads(line)
                except ValueError:
                    continue  # a line that somebody was killed in
                self.known[key] = value

    @staticmethod
    def hash(what):
        return hashlib.sha256(what.encode()).hexdigest()[:32]

    def find(self, what):
        """The value that follows from the text `what`, or None."""
        return self.known.get(self.hash(what))

    def keep(self, what, value):
        self.known[self.hash(what)] = value
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps([self.hash(what), value]) + "\n")
