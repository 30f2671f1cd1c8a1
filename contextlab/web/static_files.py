"""Static files: addresses that hold for good, and whole answers.

Pages name a file below /static/<version>/, where the version is a hash of all of our files. A browser keeps such an
address for years and does not ask again: a page opened a second time costs one request, not fifteen. Modules import
each other by relative names, so what they import carries the version, too, and never stems from another release.
The plain address /static/<name> answers as well and is asked for each time; with CONTEXTLAB_DEBUG it is the only one.

WhiteNoise streams files, which an ASGI server would read in one go anyway, with a warning each time. Ours are small.
"""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.staticfiles.storage import staticfiles_storage
from django.http import HttpRequest, HttpResponse
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.storage import CompressedStaticFilesStorage


def version_of(folders: list[Path]) -> str:
    """A short hash of the names and contents of all files in these folders."""
    found = blake2b(digest_size=6)
    for folder in folders:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            content = path.read_bytes()
            found.update(f"{path.relative_to(folder).as_posix()}\0{len(content)}\0".encode())
            found.update(content)
    return found.hexdigest()


class VersionedStorage(CompressedStaticFilesStorage):  # type: ignore[misc]  # it has no types
    """`static` names versioned addresses; an image's `collectstatic` compresses the files beforehand."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if not settings.DEBUG:
            self._base_url = f"{settings.STATIC_URL}{version_of(settings.STATICFILES_DIRS)}/"


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]  # it has no types
    """WhiteNoise, with two addresses for each file and answers that hold their bytes."""

    def add_file_to_dictionary(self, url: str, path: str, stat_cache: Any = None) -> None:
        super().add_file_to_dictionary(url, path, stat_cache)
        versioned = staticfiles_storage.url(url.removeprefix(self.static_prefix))
        super().add_file_to_dictionary(versioned, path, stat_cache)

    def immutable_file_test(self, _path: str, url: str) -> bool:
        """Whether a browser may keep what `url` answers: not what the plain address does."""
        return not settings.DEBUG and url.startswith(staticfiles_storage.url(""))

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> HttpResponse:
        found = static_file.get_response(request.method, request.META)
        answer = HttpResponse(status=int(found.status))
        if found.file is not None:
            with found.file:
                answer.content = found.file.read()
        # HttpResponse puts a type of its own, which a 304 must not have.
        del answer["Content-Type"]
        for name, value in found.headers:
            answer[name] = value
        return answer
