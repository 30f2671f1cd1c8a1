"""Every address: pages and panels, and the API below /api/."""

from django.urls import include, path

urlpatterns = [
    path("api/", include("contextlab.api.urls")),
    path("", include("contextlab.web.urls")),
]
