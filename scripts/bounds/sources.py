"""Where a row's file lies: a folder per repository, or git directories from which the row's commit is taken out."""

import io
import pathlib
import subprocess
import tarfile

from . import builds
from .rows import Unclear

SOURCES = (".cu", ".cuh", ".h", ".hpp", ".hh", ".inl", ".inc", ".cc", ".cpp", ".c")


def folders(root, repo):
    owner, _, name = repo.partition("/")
    for form in (f"{owner}+{name}", f"{owner}/{name}", f"{owner}__{name}", f"{owner}_{name}", f"{owner}-{name}", name):
        for below in ("", "repo", ".git"):
            yield pathlib.Path(root) / form / below


def checkout(root, repo, commit, path, scratch):
    """The tree that holds `path` of `repo`: checked out below `root`, or taken out of a git directory into scratch."""
    for folder in folders(root, repo):
        if (folder / path).is_file():
            return folder
    for folder in folders(root, repo):
        if (folder / "HEAD").is_file():
            commit = commit or "HEAD"
            return take_out(folder, commit, pathlib.Path(scratch) / repo.replace("/", "+") / commit)
    raise Unclear(f"no source: {repo} with {path} is not in {root}")


def take_out(git, commit, where):
    """The C and CUDA files of a commit and what builds them; pictures and what the git directory lacks are left out."""
    if where.is_dir():
        return where
    listed = subprocess.run(["git", "-C", str(git), "-c", "core.quotePath=off", "ls-tree", "-r", "--name-only", commit],
                            capture_output=True, text=True, check=False)
    if listed.returncode != 0:
        raise Unclear(f"no source: {git} has no commit {commit}")
    wanted = [name for name in listed.stdout.splitlines() if (path := pathlib.PurePath(name)).suffix in SOURCES
              or any(kind.fullmatch(path.name) for kind in builds.KINDS)]
    archive = subprocess.run(["git", "-C", str(git), "archive", commit, "--", *wanted], capture_output=True,
                             check=False)
    if archive.returncode != 0:
        raise Unclear(f"no source: git archive {commit} failed in {git}")
    where.mkdir(parents=True)
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
        files.extractall(where, filter="data")
    return where
