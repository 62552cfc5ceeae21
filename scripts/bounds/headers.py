"""The headers of a repository that a file of it includes: where they lie, and all as one text."""

import pathlib
import re


INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">][^\n]*', re.MULTILINE)


def include_folders(tree, source):
    """Where a repository's own headers may lie: beside the file, its parents up to the root, the usual names there."""
    folder, found = source.parent, []
    while True:
        found.append(folder)
        found += [folder / name for name in ("include", "inc", "src", "common", "utils", "includes") if
                  (folder / name).is_dir()]
        if folder == tree or tree not in folder.parents:
            return list(dict.fromkeys(found))
        folder = folder.parent


def folders_of(tree, source):
    """include_folders, and from where else in the repository the names count that the file or a header of its own
    includes in quotes: `a/b.cuh` from include/x for include/x/a/b.cuh, which build files say."""
    folders, seen, left = include_folders(tree, source), set(), [source]
    while left:
        file = left.pop()
        for line, name in ((found[0], found[1]) for found in INCLUDE.finditer(text_of(file))):
            near = [path for folder in (file.parent, *folders) if (path := folder / name).is_file()]
            if not near and '"' in line and (far := lies_at(tree, name)):
                folders.append(far)
                near = [far / name]
            left += [path for path in near[:1] if path not in seen]
            seen.update(near[:1])
    return folders


def lies_at(tree, name):
    """The folder below which a repository has a file of this name, the outermost of several; None where it has none."""
    places = [path for path in tree.rglob(pathlib.PurePath(name).name)
              if path.is_file() and path.as_posix().endswith("/" + name)]
    depth = len(pathlib.PurePath(name).parts)
    folders = [path.parents[depth - 1] for path in places]
    return min(folders, key=lambda folder: (len(folder.parts), folder), default=None)


def including(tree, header):
    """The repository's CUDA files that include a file by its name."""
    wanted = re.compile(rf'^[ \t]*#[ \t]*include[ \t]*["<](?:[^">\n]*/)?{re.escape(header.name)}[">]', re.MULTILINE)
    return [file for file in sorted(tree.rglob("*.cu*")) if file.is_file() and wanted.search(text_of(file))]


def text_of(source):
    return source.read_text(encoding="utf-8", errors="replace")


def with_headers(source, folders, seen, part):
    """A file and the repository's headers that it includes as one text, of each what `part` makes of it."""
    def included(found):
        for folder in (source.parent, *folders):
            if (path := folder / found[1]).is_file():
                return "" if path.resolve() in seen else with_headers(path, folders, seen, part)
        return found[0]

    seen.add(source.resolve())
    return INCLUDE.sub(included, part(text_of(source)))
