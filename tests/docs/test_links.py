"""Pages: every link and every path that is named exists; lines and the front page keep their length."""

import re
import unittest

import pages

TOP = "core|kernels|nn|data|amp|optim|examples|tests|scripts|docs|cmake"
# A path in backticks, from the root: a folder of the house with something below it, or a file at the top.
PATH = re.compile(rf"`((?:\.{{0,2}}/)?(?:{TOP})/[\w./-]*\w/?|\w[\w-]*\.(?:md|cff|json|txt)|LICENSE)(?:[ `])")
# What commands on the pages make.
MADE = {"losses.jsonl", "results.csv", "status.json", "gradus.h", "trace.json", "stacks.txt"}


def anchors(text):
    heads = re.findall(r"^#+ (.*)$", pages.prose(text), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head).lower().replace(" ", "-") for head in heads}


class Links(pages.PagesCase):
    def test_every_link_leads_somewhere(self):
        wrong = []
        for page in pages.PAGES:
            for target in re.findall(r"\]\(([^)]+)\)", pages.prose(page.read_text())):
                if re.match(r"https?:", target):
                    continue
                path, _, anchor = target.partition("#")
                there = (page.parent / path).resolve() if path else page
                if not there.exists():
                    wrong.append(f"{pages.name(page)}: no {path}")
                elif anchor and anchor not in anchors(there.read_text()):
                    wrong.append(f"{pages.name(page)}: no heading for #{anchor}")
        self.complain(wrong)

    def test_every_path_that_is_named_exists(self):
        wrong = []
        for page in pages.PAGES:
            if page.name == "CHANGELOG.md":
                continue  # tells of what was, too
            for path in PATH.findall(page.read_text()):
                beside = page.parent / path
                if path not in MADE and "NAME" not in path and not (pages.ROOT / path).exists() and not beside.exists():
                    wrong.append(f"{pages.name(page)}: no {path}")
        self.complain(wrong)

    def test_every_page_of_docs_is_linked_from_its_index(self):
        index = (pages.ROOT / "docs/README.md").read_text()
        below = [
            page.relative_to(pages.ROOT / "docs") for page in pages.PAGES if page.is_relative_to(pages.ROOT / "docs")
        ]
        self.complain([f"docs/README.md does not name {page}" for page in below
                       if page.name != "README.md" and f"({page})" not in index])

    def test_lines_are_at_most_120_columns(self):
        # rows of tables and pictures cannot be wrapped
        self.complain([f"{pages.name(page)}:{n}: {len(line)} columns" for page in pages.PAGES
                       for n, line in enumerate(page.read_text().splitlines(), 1)
                       if len(line) > 120 and not line.startswith(("|", "!["))])

    def test_the_front_page_is_at_most_160_lines(self):
        self.assertLessEqual(len((pages.ROOT / "README.md").read_text().splitlines()), 160)

    def test_the_version_is_the_same_everywhere(self):
        code = re.search(r'GR_VERSION "(.*)"', (pages.ROOT / "core/core.h").read_text())[1]
        cited = re.search(r"^version: (.*)$", (pages.ROOT / "CITATION.cff").read_text(), re.MULTILINE)[1]
        changed = re.search(r"^## ([\d.]+)", (pages.ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[1]
        self.assertEqual((cited, changed), (code, code))


if __name__ == "__main__":
    unittest.main()
