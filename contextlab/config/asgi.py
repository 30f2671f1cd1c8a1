"""The door for ASGI servers, with the limit on request bodies in front."""

import os

from django.conf import settings
from django.core.asgi import get_asgi_application

from contextlab.config.body_limit import BodyLimit

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "contextlab.config.settings")

application = BodyLimit(get_asgi_application(), settings.MAX_UPLOAD_BYTES)
