"""The README as a package index shows it: links into the repository become links to the project's public home."""

import re
from pathlib import PurePosixPath

PICTURES = {".png", ".svg", ".jpg", ".jpeg", ".gif", ".webp"}
LINKS = (
    r"(?<=\]\()([^()\s]+)",  # [words](link), ![words](link)
    r"""(?<=(?:src|ref)=")([^"\s]+)""",  # <img src="link">, <a href="link">
    r"""(?<=srcset=")([^"\s]+)""",
    r"(?m:(?<=\]: )(\S+)$)",  # [name]: link
)


def absolute(text: str, source: str, version: str) -> str:
    """A Markdown text whose relative links lead to the files of that version.

    source : address of the repository at GitHub. version : whose tag, v and the version, has the files.
    """
    raw = source.replace("://github.com/", "://raw.githubusercontent.com/")

    def replaced(match: re.Match[str]) -> str:
        link = match[1]
        if re.match(r"[a-z]+:|//|#", link):
            return link
        picture = PurePosixPath(link.partition("#")[0]).suffix in PICTURES
        return f"{raw}/v{version}/{link}" if picture else f"{source}/blob/v{version}/{link}"

    parts = re.split(r"(^```.*?^```$|`[^`\n]+`)", text, flags=re.MULTILINE | re.DOTALL)  # code is left alone
    for number in range(0, len(parts), 2):
        for pattern in LINKS:
            parts[number] = re.sub(pattern, replaced, parts[number])
    return "".join(parts)
