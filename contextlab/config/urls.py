"""Every address: pages and panels, and the API below /api/."""

from django.urls import include, path

urlpatterns = [
    path("api/", include("contextlab.api.urls")),
    path("", include("contextlab.web.urls")),
]

handler400 = "contextlab.web.errors.bad_request"
handler403 = "contextlab.web.errors.forbidden"
handler404 = "contextlab.web.errors.not_found"
handler500 = "contextlab.web.errors.server_error"
