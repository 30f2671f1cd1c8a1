"""The queue of files: kombu's transport, with messages that are whole from the moment they can be seen.

kombu opens a message's file under its final name and writes it then. A worker that looks in between takes an empty
file and dies of it; the run waits until it is rung for again. Here a message is written aside and renamed. The table
of queues is likewise empty for a moment when it is first made: whoever reads it then looks again.
"""

from __future__ import annotations

import os
import uuid
from json import JSONDecodeError
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps

LOOKS = 20
PAUSE = 0.01


class Channel(filesystem.Channel):
    """kombu's channel, but for how a message comes into the folder."""

    def _put(self, queue: str, payload: Any, **kwargs: Any) -> None:  # type: ignore[override]  # noqa: ARG002
        """Put a message into a queue, whole or not at all."""
        name = f"{round(monotonic() * 1000)}_{uuid.uuid4()}.{queue}.msg"
        folder = Path(self.data_folder_out)
        aside = folder / f"{name}.part"
        try:
            aside.write_text(dumps(payload), "utf-8")
            os.replace(aside, folder / name)
        except OSError as error:
            raise ChannelError(f"Cannot add {name!r} to the queue's folder") from error

    def get_table(self, exchange: str) -> Any:
        """The queues of an exchange."""
        for _ in range(LOOKS):
            try:
                return super().get_table(exchange)
            except JSONDecodeError:
                sleep(PAUSE)
        return super().get_table(exchange)


class Transport(filesystem.Transport):
    """kombu's transport with that channel."""

    Channel = Channel
