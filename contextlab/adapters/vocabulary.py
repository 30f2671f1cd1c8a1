"""The vocabularies that tiktoken would download, shipped with the package and unpacked once.

tiktoken looks for them in TIKTOKEN_CACHE_DIR under the sha1 of their address. A file with a wrong hash there makes it
delete the file and go to the network, so every file is checked before it is trusted.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from contextlab.adapters.data_folder import data_folder

VOCAB_DIR = Path(__file__).parent / "vocab"


@dataclass(frozen=True, slots=True)
class VocabularyFile:
    """One of OpenAI's files: the encoding's name, sha256 of the content, sha1 of its address."""

    encoding: str
    sha256: str
    cache_name: str


FILES = (
    VocabularyFile(
        "o200k_base",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        "fb374d419588a4632f3f557e76b4b70aebbca790",
    ),
    VocabularyFile(
        "cl100k_base",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
    ),
)


def install_vocabulary(cache_dir: Path | None = None) -> Path:
    """Put the vocabularies where tiktoken finds them and point TIKTOKEN_CACHE_DIR there; returns the folder.

    Idempotent, and safe when several processes do it at once. Without `cache_dir` it is `tiktoken` in the data
    folder, or a folder of this user's under the system's temporary one where that cannot be written.
    """
    folder = cache_dir or data_folder() / "tiktoken"
    try:
        _fill(folder)
    except OSError:
        if cache_dir is not None:
            raise
        folder = (
            Path(tempfile.gettempdir()) / f"contextlab-tiktoken-{os.getuid() if hasattr(os, 'getuid') else 0}"
        )
        _fill(folder)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(folder)
    return folder


def _fill(folder: Path) -> None:
    for file in FILES:
        target = folder / file.cache_name
        if not _is_right(target, file.sha256):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            _write(target, _unpacked(file))


def _is_right(path: Path, sha256: str) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == sha256
    except OSError:
        return False


def _unpacked(file: VocabularyFile) -> bytes:
    raw = lzma.decompress((VOCAB_DIR / f"{file.encoding}.tiktoken.xz").read_bytes())
    if hashlib.sha256(raw).hexdigest() != file.sha256:
        raise RuntimeError(f"The shipped vocabulary {file.encoding} is damaged; install ContextLab again.")
    return raw


def _write(target: Path, raw: bytes) -> None:
    """Aside first, then in place at once: another process sees all of it or nothing."""
    descriptor, draft = tempfile.mkstemp(dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(raw)
        os.replace(draft, target)
    except OSError:
        Path(draft).unlink(missing_ok=True)
        raise
