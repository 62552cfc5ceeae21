"""What the tests of the pages share: the pages, and the blocks of commands in them."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))


def name(page):
    return str(page.relative_to(ROOT))


def blocks(text):
    """(language, text) of every fenced block."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def prose(text):
    """The page without its fenced blocks."""
    return re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)


def commands(text):
    """Command lines of the blocks without a language: all of a block whose first line is one, else those after "$ ".
    What stands behind two spaces or a # explains them."""
    found = []
    for language, block in blocks(text):
        if language:
            continue
        lines = re.sub(r"\s*\\\n\s*", " ", block).splitlines()
        prompted = [line[2:] for line in lines if line.startswith("$ ")]
        if not prompted and re.match(r"(gradus |\./scripts/|scripts/|cmake |ctest |python3 |build/)", lines[0]):
            prompted = lines
        found += [re.sub(r"\s+#.*|\s{2,}.*", "", line.strip()) for line in prompted if line.strip()]
    return found


class PagesCase(unittest.TestCase):
    def complain(self, wrong):
        self.assertFalse(wrong, "\n" + "\n".join(wrong))
