"""Hooks of mkdocs: the navigation, and the files outside of docs/ to which pages have links.

docs/index.md lists every page under the question that it answers. Its sections and the links in the last cells of its
tables are the navigation, so that a page is added in one place. A page that the tables lack is an error of the strict
build.

Pages have relative links to sources and READMEs, which a viewer of the repository follows. The site has a copy of each
such file under tree/: Markdown files and notebooks as pages, other files as code, folders as a list of files.
"""

import json
import os
import re
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
LINK = re.compile(r"\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)")
ROW = re.compile(r"\|.*\| *\[([^\]]+)\]\(([^)]+)\) *\|$")
FENCE = re.compile(r"\s*(```+|~~~+)")
BLOCK = re.compile(r"([-*+]|\d+\.) |\|")
LANGUAGES = {".c": "c", ".cmake": "cmake", ".cpp": "cpp", ".def": "cpp", ".h": "cpp", ".py": "python", ".toml": "toml",
             ".yml": "yaml"}


def page_of(path):
    """The page of the site that shows a file or folder of the repository, both relative to their roots."""
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if (ROOT / path).is_dir():
        return f"tree/{path}/README.md"
    return f"tree/{path}" if path.endswith(".md") else f"tree/{path}.md"


def target_of(path, link):
    """What a link of the file `path` names, relative to the root of the repository."""
    return os.path.normpath(os.path.join(os.path.dirname(path), link))


def outside_of_fences(text):
    """(line, true if the line is not part of a code block)."""
    fence = None
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if mark and fence is None:
            fence = mark[1]
        elif mark and mark[1].startswith(fence):
            fence = None
            yield line, False
            continue
        yield line, fence is None and not line.startswith("    ")


def links_of(text):
    return [match[1] for line, is_text in outside_of_fences(text) if is_text for match in LINK.finditer(line)]


def as_code(text, language):
    return f"`````{language}\n{text.rstrip()}\n`````"


def notebook_page(text):
    cells = json.loads(text)["cells"]
    sources = [("".join(cell["source"]), cell["cell_type"] == "code") for cell in cells]
    return "\n\n".join(as_code(source, "python") if is_code else source for source, is_code in sources)


def markdown_of(path):
    """The page of a file outside of docs/."""
    file = ROOT / path
    if file.is_dir() and (file / "README.md").is_file():
        file = file / "README.md"
    if file.is_dir():
        names = sorted(str(each.relative_to(file)) for each in file.rglob("*") if each.is_file())
        return f"# {path}\n\n" + "\n".join(f"- `{name}`" for name in names)
    text = file.read_text()
    if file.suffix == ".md":
        return text
    if file.suffix == ".ipynb":
        return notebook_page(text)
    return f"---\nsearch:\n  exclude: true\n---\n# {path}\n\n" + as_code(text, LANGUAGES.get(file.suffix, "text"))


def repository_path(path):
    """The file whose relative links a page has: the README of a folder for the folder."""
    readme = f"{path}/README.md"
    return readme if (ROOT / readme).is_file() else path


def on_config(config):
    nav, section = [{"Home": "index.md"}], None
    for line in (ROOT / "docs/index.md").read_text().splitlines():
        row = ROW.match(line)
        if line.startswith("## "):
            section = []
            nav.append({line.removeprefix("## "): section})
        elif row:
            section.append({row[1]: page_of(target_of("docs/index.md", row[2]))})
    config.nav = nav
    return config


def on_files(files, config):
    """Adds a page for each file outside of docs/ that a page, or such a file, has a link to."""
    pending = [f"docs/{file.src_uri}" for file in files.documentation_pages()]
    while pending:
        path = repository_path(pending.pop())
        for link in links_of(markdown_of(path)):
            target = target_of(path, link)
            page = page_of(target)
            known = target.startswith(("docs/", "../")) or files.get_file_from_path(page)
            if known or not (ROOT / target).exists():
                continue  # mkdocs reports a missing file
            file = File.generated(config, page, content=markdown_of(target))
            file.repository_path = repository_path(target)
            files.append(file)
            pending.append(target)
    return files


def on_page_markdown(text, page, files, **_):
    """Links to pages of the site; an empty line before each list and table, as Python's Markdown requires."""
    path = getattr(page.file, "repository_path", f"docs/{page.file.src_uri}")

    def new_link(match):
        to = page_of(target_of(path, match[1]))
        if files.get_file_from_path(to) is None:
            return match[0]
        return f"]({os.path.relpath(to, os.path.dirname(page.file.src_uri))}{match[2] or ''})"

    lines, previous = [], ""
    for line, is_text in outside_of_fences(text):
        if is_text and BLOCK.match(line) and previous.strip() and not BLOCK.match(previous) and not previous.startswith(" "):
            lines.append("")
        lines.append(LINK.sub(new_link, line) if is_text else line)
        previous = line
    return "\n".join(lines)
