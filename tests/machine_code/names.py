"""Names of kernels as their source has them."""
import re
import subprocess


def plain_names(names):
    """By c++filt, without what nvcc puts before names of a file's own: mangled -> plain."""
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    plain = re.sub(r"_INTERNAL_\w+?_cu_[0-9a-f]{8}::", "", text).replace("> >", ">>")
    return dict(zip(names, plain.splitlines()))


def short(name):
    """A plain name without result and arguments."""
    depth = 0
    for i, letter in enumerate(name):
        depth += (letter == "<") - (letter == ">")
        if letter == "(" and depth == 0:
            return name[:i].removeprefix("void ")
    return name
