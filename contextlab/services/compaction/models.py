"""The model that writes summaries: what the environment names, where it may be, and each answer kept before use."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError, IntegrityError, transaction

from contextlab.adapters.model_hosts import HostRule
from contextlab.core.language_model import LanguageModel, ModelError, ModelMessage, ModelReply, ModelUsage
from contextlab.services.compaction.costs import COSTS, note_costs
from contextlab.services.runs import TryAgain
from contextlab.services.work import Work
from contextlab.store.models import CompactionJob, ModelAnswer

TIMEOUT = 120.0
"""Seconds for one answer."""
STRETCH = 32_768
"""Letters of a prompt that are read at once for its name: a copy of many megabytes takes longer than that."""


@dataclass(frozen=True, slots=True)
class ModelStatus:
    """What is set; the key's value is nowhere."""

    model: str
    host: str
    key_set: bool
    allowed: bool
    """Both are set, and the host is one that may be asked."""
    reason: str
    """Why it cannot be asked, for people; empty where it can."""


def model_status() -> ModelStatus:
    """What the environment says about the model."""
    host = _host()
    reason = _reason(host)
    return ModelStatus(settings.MODEL_NAME, host, bool(settings.MODEL_KEY), not reason, reason)


def open_model() -> LanguageModel:
    """The model; raises ModelError where none is set or its host may not be asked."""
    if reason := _reason(_host()):
        raise ModelError("not_allowed" if settings.MODEL_BASE_URL else "no_model", reason)
    from contextlab.adapters.openai_model import OpenAIModel

    try:
        model = OpenAIModel(
            settings.MODEL_BASE_URL, settings.MODEL_NAME, settings.MODEL_KEY or None, timeout=TIMEOUT,
            rule=_rule(),
        )  # fmt: skip
    except ValueError as error:
        raise ModelError(
            "not_allowed", f"CONTEXTLAB_MODEL_BASE_URL or its key cannot be used: {error}"
        ) from error
    return model


def try_model() -> ModelReply:
    """Ask the model for one word: a person's click. Raises ModelError."""
    return open_model().complete([ModelMessage("user", "Answer with the word: ready")], timeout=30)


def _host() -> str:
    try:
        return (urlsplit(settings.MODEL_BASE_URL).hostname or "").lower()
    except ValueError:
        return ""


def _reason(host: str) -> str:
    if not settings.MODEL_BASE_URL or not settings.MODEL_NAME:
        return "No model is set: CONTEXTLAB_MODEL_BASE_URL and CONTEXTLAB_MODEL name one."
    if not host:
        return "CONTEXTLAB_MODEL_BASE_URL names no host."
    if _rule().name(host):
        return "The host of the model is not on the operator's list (CONTEXTLAB_MODEL_HOSTS)."
    return ""


def _rule() -> HostRule:
    """Where a model may be: checked by name here, and by address when the connection is made."""
    return HostRule(settings.LOCAL, tuple(settings.MODEL_HOSTS))


class KeepingModel:
    """Keeps every answer in the job before anybody reads it: the same request again is answered from there."""

    def __init__(self, work: Work, job: CompactionJob) -> None:
        """The model is opened at the first request that has no answer yet."""
        self._work, self._job = work, job
        self._model: LanguageModel | None = None
        self.asked = 0
        self.usages: list[ModelUsage] = []

    def complete(
        self,
        messages: Sequence[ModelMessage],
        *,
        json_mode: bool = False,
        max_output_tokens: int | None = None,
        timeout: float | None = None,
    ) -> ModelReply:
        """The kept answer, else the model's. Outside of any transaction; raises ModelError, or an Interrupt."""
        try:
            return self._complete(messages, json_mode, max_output_tokens, timeout or TIMEOUT)
        except DatabaseError as error:  # which is no fault of the model
            raise TryAgain(f"The database failed: {type(error).__name__}: {error}") from error

    def _complete(
        self, messages: Sequence[ModelMessage], json_mode: bool, most: int | None, timeout: float
    ) -> ModelReply:
        self.asked += 1
        name = _name_of(messages, most)
        kept = ModelAnswer.objects.filter(job=self._job, request=name).first()
        if kept is None:
            self._work.still_ours(f"asking the model (request {self.asked})")
            self._model = self._model or open_model()
            reply = self._model.complete(
                messages, json_mode=json_mode, max_output_tokens=most, timeout=timeout
            )
            row = {"text": _storable(reply.text), "usage": asdict(reply.usage), "cut_off": reply.cut_off}
            kept = self._keep(name, row)
        usage = ModelUsage(**kept.usage)
        self.usages.append(usage)
        self._work.still_ours("reading the answer")
        return ModelReply(kept.text, usage, kept.cut_off)

    def _keep(self, name: str, row: dict[str, Any]) -> ModelAnswer:
        """The answer as it is stored; where somebody else stored one meanwhile, theirs."""
        try:
            with transaction.atomic():
                kept = ModelAnswer.objects.create(job=self._job, request=name, **row)
                note_costs(self._job)
        except IntegrityError:
            kept = ModelAnswer.objects.get(job=self._job, request=name)
            self._job.refresh_from_db(fields=COSTS)
        return kept


def _name_of(messages: Sequence[ModelMessage], most: int | None) -> str:
    digest = hashlib.sha256(f"{most}".encode("ascii"))
    for message in messages:
        digest.update(f"\n{message.role} {_size(message.content)}\n".encode("ascii"))
        for start in range(0, len(message.content), STRETCH):
            digest.update(message.content[start : start + STRETCH].encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _size(text: str) -> int:
    """Bytes of a text as UTF-8."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _storable(text: str) -> str:
    """The answer as every database takes it."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
