"""One module per page: its views, and the addresses they answer (`urlpatterns`)."""
