"""The PTX in objects, and the kernels in it."""
import re
import subprocess


def texts_in(path):
    """The PTX that an object holds; each text ends with a zero byte."""
    with open(path, "rb") as data:
        return [text.decode() for text in re.findall(rb"^\.version [^\0]*", data.read(), flags=re.M)]


def demangled(names):
    """As in the sources, short."""
    text = subprocess.run(["c++filt"], input="\n".join(names), text=True, check=True, stdout=subprocess.PIPE).stdout
    text = re.sub(r"lethe::|\(anonymous namespace\)::", "", text)
    return re.sub(r"LowFloat<(\w+)Format>", r"\1", text).replace(" >", ">").splitlines()


def kernels_of(text):
    """Of PTX: (name, code) of each kernel."""
    codes = re.split(r"^\s*(?:\.visible |\.weak )?\.entry ", text, flags=re.M)[1:]
    return list(zip(demangled([code[:code.index("(")] for code in codes]), codes))
