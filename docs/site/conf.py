"""The pages as a site, by Sphinx with MyST, which reads them as code hosts do: nothing in a page is for the site."""
import re
import shutil
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

project = "Lethe"
author = "The Lethe maintainers"
copyright = author
release = version = re.search(r"^project\(lethe VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)[1]
root_doc = "README"
include_patterns = ["*.md", "docs/**.md"]
extensions = ["myst_parser"]
myst_heading_anchors = 6  # named as code hosts name them
html_theme = "basic"
html_theme_options = {"globaltoc_includehidden": True}
html_static_path = ["static"]
html_css_files = ["site.css"]
html_sidebars = {"**": ["searchbox.html", "globaltoc.html"]}
pygments_style = "bw"
html_title = f"Lethe {version}"
html_copy_source = html_show_sphinx = html_use_index = smartquotes = False
highlight_language = "none"

LINK = re.compile(r"\]\(([^)#\s:]*\.md)(?:#[^)]*)?\)")


def lists_of(page):
    """Of each section of a page that leads to others: its heading, "" for the first, and the pages."""
    text = (ROOT / page).read_text()
    for section in re.split(r"^## ", "\n" + text.split("\n", 1)[1], flags=re.M):
        heading, _, body = section.partition("\n")
        yield heading, [(ROOT / page).parent.joinpath(link).resolve().relative_to(ROOT) for link in LINK.findall(body)]


def add_contents(app, name, source):
    """The menu is what docs/README.md leads to, in its order; below the notebooks stand those of their index."""
    pages = {"README": "docs/README.md", "docs/measurements/README": "docs/measurements/README.md"}
    if name not in pages:
        return
    seen = {Path(pages[name])}
    contents = [("", list(seen))] if name == root_doc else []
    for heading, links in lists_of(pages[name]):
        contents.append((heading, [link for link in dict.fromkeys(links) if link not in seen and link.suffix == ".md"]))
        seen.update(links)
    for heading, links in contents:
        entries = "".join(f"/{link}\n" for link in links)
        caption = f":caption: {heading}\n" if heading else ""
        source[0] += f"\n```{{toctree}}\n:hidden:\n{caption}\n{entries}```\n"


def add_index(app, error):
    if not error:
        shutil.copy(Path(app.outdir) / "README.html", Path(app.outdir) / "index.html")


def setup(app):
    app.connect("source-read", add_contents)
    app.connect("build-finished", add_index)
