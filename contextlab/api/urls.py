"""The addresses of the API."""

from django.urls import URLPattern, URLResolver, path, re_path
from drf_spectacular.views import SpectacularJSONAPIView

from contextlab.api import (
    compactions,
    decisions,
    errors,
    imports,
    items,
    memories,
    policies,
    runs,
    sessions,
    steps,
    usage,
    user_memories,
)

SESSION = "sessions/<uuid:uid>/"

urlpatterns: list[URLPattern | URLResolver] = [
    path("schema/", SpectacularJSONAPIView.as_view()),
    path("sessions/", sessions.SessionList.as_view()),
    path(SESSION, sessions.SessionOne.as_view()),
    path(SESSION + "turns/", sessions.TurnList.as_view()),
    path(SESSION + "turns/<int:number>/", sessions.TurnOne.as_view()),
    path(SESSION + "steps/", steps.StepList.as_view()),
    path(SESSION + "steps/<int:number>/", steps.StepOne.as_view()),
    path(SESSION + "steps/<int:number>/items/", steps.StepItems.as_view()),
    path(SESSION + "items/", items.ItemList.as_view()),
    path(SESSION + "items/<int:position>/", items.ItemOne.as_view()),
    path(SESSION + "spans/", items.SpanList.as_view()),
    path(SESSION + "decisions/", decisions.DecisionList.as_view()),
    path(SESSION + "compactions/", compactions.CompactionList.as_view()),
    path(SESSION + "memory/", compactions.Memory.as_view()),
    path(SESSION + "branches/<str:name>/restore/", compactions.BranchChange.as_view(action="restore")),
    path(SESSION + "branches/<str:name>/promote/", compactions.BranchChange.as_view(action="promote")),
    path("compactions/<uuid:uid>/", compactions.CompactionOne.as_view()),
    path("compactions/<uuid:uid>/cancel/", compactions.CompactionCancel.as_view()),
    path("policies/", policies.PolicyList.as_view()),
    path("policies/validate/", policies.PolicyCheck.as_view()),
    path("policies/schema/", policies.PolicySchema.as_view()),
    path("policies/<uuid:uid>/", policies.PolicyOne.as_view()),
    path("offloads/<str:name>/", compactions.OffloadOne.as_view()),
    path("usage/", usage.UsageView.as_view()),
    path(SESSION + "observations/", memories.SessionObservations.as_view()),
    path("memories/observations/", memories.ObservationList.as_view()),
    path("memories/economics/", memories.MemoryEconomics.as_view()),
    path("memories/injection/", memories.InjectionView.as_view()),
    path("memories/settings/", memories.MemorySettingsView.as_view()),
    path("memories/prompts/", memories.MemoryPrompts.as_view()),
    path("user-memories/", user_memories.UserMemoryList.as_view()),
    path("user-memories/tools/", user_memories.UserMemoryTools.as_view()),
    path("user-memories/optimise/", user_memories.UserMemoryWork.as_view(action="optimise")),
    path("user-memories/remember/", user_memories.UserMemoryWork.as_view(action="remember")),
    path("user-memories/<uuid:uid>/", user_memories.UserMemoryOne.as_view()),
    path("user-memories/<uuid:uid>/undo/", user_memories.UserMemoryUndo.as_view()),
    path("imports/", imports.Import.as_view()),
    path("runs/<uuid:uid>/", runs.RunOne.as_view()),
    path("runs/<uuid:uid>/cancel/", runs.RunCancel.as_view()),
    re_path("", errors.unknown_address),
]
