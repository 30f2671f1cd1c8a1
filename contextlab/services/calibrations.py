"""What models are calibrated with in a workspace, and making views anew where that has changed.

    in_force(workspace_id)      what a view that is made now is calibrated with
    put_in_use(workspace, ...)  after a fit: what has changed is used from now on
    use_fitted(workspace, on)   a person's switch between what was fitted and the table

A view keeps what it was made with. When that is no longer what is in force it is marked, labelled where it is shown,
and made again in the background, a few at a time (services.reconcile): a change costs no storm.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from django.db import transaction
from django.db.models import F, Q

from contextlab.core.measuring.calibrations import TABLE, Calibrations, InUse, in_use
from contextlab.store.models import ModelCalibration, View, Workspace


def in_force(workspace_id: int) -> Calibrations:
    """What is used instead of the table now."""
    if not Workspace.objects.filter(pk=workspace_id, fitted_calibrations=True).exists():
        return TABLE
    return Calibrations(kept(workspace_id))


def kept(workspace_id: int) -> dict[str, InUse]:
    """What would be used instead of the table, whatever the switch says."""
    rows = ModelCalibration.objects.filter(workspace_id=workspace_id, used__isnull=False)
    return {model: in_use(used) for model, used in rows.values_list("model", "used") if used}


def put_in_use(workspace: Workspace, chosen: Mapping[str, InUse | None]) -> list[str]:
    """Use these from now on (None: the table); returns the models of which something has changed."""
    before = kept(workspace.pk)
    changed = [model for model, one in chosen.items() if before.get(model) != one]
    with transaction.atomic():
        for model in changed:
            one = chosen[model]
            rows = ModelCalibration.objects.filter(workspace=workspace, model=model)
            rows.update(used=None if one is None else one.as_plain())
        if workspace.fitted_calibrations:
            _mark(workspace, changed)
    return changed


def use_fitted(workspace: Workspace, on: bool) -> None:
    """Switch between what was fitted and the table alone."""
    with transaction.atomic():
        switched = Workspace.objects.filter(pk=workspace.pk, fitted_calibrations=not on)
        if switched.update(fitted_calibrations=on):
            _mark(workspace, kept(workspace.pk))
    workspace.fitted_calibrations = on


def _mark(workspace: Workspace, models: Iterable[str]) -> None:
    """Views whose figures rest on one of the models are to be made anew; who makes one right now begins again."""
    concerned = Q()
    for model in models:
        concerned |= Q(calibrations__has_key=model)
    if concerned:
        views = View.objects.filter(concerned, session__workspace=workspace)
        views.update(recalibrate=True, version=F("version") + 1)
