"""Fonts of this machine that can draw both languages."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

# Files as systems name them; in a collection, the face for simplified Chinese.
_FONTS = (
    ("NotoSansCJK-Bold.ttc", "NotoSansCJK-Regular.ttc"),
    ("NotoSansCJKsc-Bold.otf", "NotoSansCJKsc-Regular.otf"),
    ("SourceHanSansSC-Bold.otf", "SourceHanSansSC-Regular.otf"),
    ("NotoSansSC-Bold.ttf", "NotoSansSC-Regular.ttf"),
    ("msyhbd.ttc", "msyh.ttc"),
    ("PingFang.ttc", "PingFang.ttc"),
    ("Hiragino Sans GB.ttc", "Hiragino Sans GB.ttc"),
    ("wqy-microhei.ttc", "wqy-microhei.ttc"),
    ("wqy-zenhei.ttc", "wqy-zenhei.ttc"),
)
_FOLDERS = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.fonts", "~/.local/share/fonts", "/System/Library/Fonts", "/Library/Fonts", "C:/Windows/Fonts")


@dataclass(frozen=True, slots=True)
class Fonts:
    """Two files of fonts with Chinese and Latin letters."""

    bold: Path
    regular: Path


def find_fonts() -> Fonts | None:
    """The fonts of this machine that can draw both languages; None where there are none."""
    files: dict[str, Path] = {}
    for folder in _FOLDERS:
        for path in sorted(Path(folder).expanduser().rglob("*.[ot]t[fc]")):
            files.setdefault(path.name, path)
    return next((Fonts(files[bold], files[regular]) for bold, regular in _FONTS if bold in files and regular in files), None)
