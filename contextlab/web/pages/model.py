"""The model that writes summaries: what of it is set, and a button that asks it for one word."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_POST

from contextlab.adapters.prices import price_of
from contextlab.core.language_model import ModelError, ModelReply
from contextlab.services.compaction import model_status, try_model
from contextlab.services.compaction.costs import priced_for

READS, WRITES = 20, 10
"""Tokens of a trial, about: its prompt with what an endpoint adds to it, and one word."""
SHOWN_ANSWER = 600


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of asking for one word. None is unknown."""

    answer: str = ""
    reply: ModelReply | None = None
    cost: Decimal | None = None
    error: str = ""


def model(request: HttpRequest) -> HttpResponse:
    """The page."""
    return render(request, "pages/model.html", model_values())


@require_POST
def trial(request: HttpRequest) -> HttpResponse:
    """A person's click: the one request of the page that goes out."""
    values = model_values() | {"trial": _ask()}
    in_place = bool(request.headers.get("HX-Request"))
    return render(request, "panels/model_trial.html" if in_place else "pages/model.html", values)


def model_values() -> dict[str, Any]:
    """What is set, and what a trial would take."""
    status = model_status()
    priced = price_of(status.model, READS, WRITES)
    return {
        "nav": "model", "model": status, "window": settings.MODEL_WINDOW, "local": settings.LOCAL,
        "reads": READS, "writes": WRITES, "cost": priced.cost if priced else None,
    }  # fmt: skip


def _ask() -> Trial:
    try:
        reply = try_model()
    except ModelError as error:
        return Trial(error=f"{str(error)[:1].upper()}{str(error)[1:]}".rstrip(".") + ".")
    priced = priced_for(reply.usage, model_status().model)
    return Trial(reply.text[:SHOWN_ANSWER], reply, priced.cost if priced else None)


urlpatterns = [path("model", model, name="model"), path("model/try", trial, name="model_try")]
