"""Django's settings: everything works with nothing set, and nonsense fails at the start, with its name.

Two modes. `local` (the default) is one person's own machine: loopback only, SQLite, files as the broker.
`server` stands behind a proxy that speaks TLS. docs/production.md explains every variable.
"""

from __future__ import annotations

from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from contextlab.adapters.data_folder import CHECKOUT, data_folder
from contextlab.config import env
from contextlab.config.broker import transport_options
from contextlab.config.files import private_folder, secret_key
from contextlab.config.logs import logging_config

BASE_DIR = CHECKOUT
DATA_DIR = private_folder(data_folder())
MODE = env.choice("CONTEXTLAB_MODE", ("local", "server"))
LOCAL = MODE == "local"
DEBUG = env.flag("CONTEXTLAB_DEBUG", default=False)
if DEBUG and not LOCAL:
    raise ImproperlyConfigured(
        "CONTEXTLAB_DEBUG shows source code and settings: it works in local mode only."
    )

# Who may ask -------------------------------------------------------------------------------------
# Loopback names only: a page elsewhere that points its own name at 127.0.0.1 is refused by this list.
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]"]
if not LOCAL:
    ALLOWED_HOSTS += env.names("CONTEXTLAB_ALLOWED_HOSTS")
    if len(ALLOWED_HOSTS) == 3 or "*" in ALLOWED_HOSTS:
        raise ImproperlyConfigured(
            "Server mode needs CONTEXTLAB_ALLOWED_HOSTS, the names people use for it (no *)."
        )
SECRET_KEY = env.text("CONTEXTLAB_SECRET_KEY") or secret_key(DATA_DIR / "secret_key")
if len(SECRET_KEY) < 50:
    raise ImproperlyConfigured("CONTEXTLAB_SECRET_KEY must have at least 50 characters.")

CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "contextlab.web.errors.csrf_failure"
CSRF_COOKIE_HTTPONLY = True  # pages hand the token to htmx in hx-headers; no script reads the cookie
CSRF_COOKIE_SECURE = not LOCAL
CSRF_TRUSTED_ORIGINS = [] if LOCAL else [f"https://{host}" for host in env.names("CONTEXTLAB_ALLOWED_HOSTS")]
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
if not LOCAL:
    SECURE_SSL_REDIRECT = True
    SECURE_REDIRECT_EXEMPT = [r"^health$"]
    SECURE_HSTS_SECONDS = 31_536_000
    SECURE_HSTS_INCLUDE_SUBDOMAINS = True
    SECURE_HSTS_PRELOAD = True
    if env.flag("CONTEXTLAB_TRUST_PROXY", default=False):
        SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
REDACT_AT_INGEST = env.flag("CONTEXTLAB_REDACT_AT_INGEST", default=not LOCAL)

# What it is made of ------------------------------------------------------------------------------
INSTALLED_APPS = [
    "contextlab.store",
    "contextlab.config",
    "rest_framework",
    "drf_spectacular",
    "django_htmx",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "contextlab.web.middleware.SecurityHeadersMiddleware",
    "contextlab.web.static_files.StaticFilesMiddleware",
    "contextlab.web.middleware.OriginCheckMiddleware",
    "contextlab.web.middleware.UploadLimitMiddleware",
    "contextlab.web.middleware.MethodErrorMiddleware",
    "django.middleware.gzip.GZipMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]
ROOT_URLCONF = "contextlab.config.urls"
ASGI_APPLICATION = "contextlab.config.asgi.application"
WSGI_APPLICATION = "contextlab.config.wsgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": False,
        "OPTIONS": {
            "context_processors": ["django.template.context_processors.request"],
            "builtins": ["django.templatetags.static", "contextlab.web.templatetags.lab"],
            "string_if_invalid": "",
        },
    }
]
APPEND_SLASH = False
USE_TZ = True
TIME_ZONE = "UTC"
USE_I18N = False
LANGUAGE_CODE = "en-us"
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# Static files ------------------------------------------------------------------------------------
# Locally they are served from where they lie; an image collects and compresses them at build time.
STATIC_URL = "/static/"
STATICFILES_DIRS = [path for path in [BASE_DIR / "static"] if path.is_dir()]
STATIC_ROOT = env.text("CONTEXTLAB_STATIC_ROOT") or None
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "contextlab.web.static_files.VersionedStorage"},
}
WHITENOISE_USE_FINDERS = not STATIC_ROOT
WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_MAX_AGE = 0  # of plain addresses; pages name versioned ones (web/static_files.py)

# Database ----------------------------------------------------------------------------------------
# IMMEDIATE: with Django's default 39 % of concurrent read-then-write transactions ended in "database is
# locked"; with this, none. No ATOMIC_REQUESTS: every GET would take the write lock.
_SQLITE_OPTIONS: dict[str, Any] = {
    "timeout": 20,
    "transaction_mode": "IMMEDIATE",
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; "
    "PRAGMA cache_size=-16000; PRAGMA temp_store=MEMORY",
}
DATABASE_URL = env.text("DATABASE_URL", f"sqlite:///{DATA_DIR / 'db.sqlite3'}")
try:
    _database: dict[str, Any] = dict(dj_database_url.parse(DATABASE_URL))
except (ValueError, KeyError) as error:
    # Not the value itself: it holds a password.
    raise ImproperlyConfigured("DATABASE_URL is not an address that Django understands.") from error
if _database["ENGINE"] == "django.db.backends.sqlite3":
    _database["OPTIONS"] = {**_SQLITE_OPTIONS, **_database.get("OPTIONS", {})}
    # A file, not memory: the live server of the browser tests reads it from other threads.
    _database["TEST"] = {"NAME": DATA_DIR / "test.sqlite3"}
elif _database["ENGINE"] == "django.db.backends.postgresql":
    # Requests run in threads that end with them: a pool keeps the connections, CONN_MAX_AGE would not.
    _pool = {
        "min_size": 1,
        "max_size": env.number("CONTEXTLAB_DB_POOL", 10, least=1, most=500),
        "timeout": 20,
    }
    _database["OPTIONS"] = {"pool": _pool, **_database.get("OPTIONS", {})}
else:
    raise ImproperlyConfigured("DATABASE_URL must name SQLite or PostgreSQL.")
DATABASES = {"default": _database}

# Uploads -----------------------------------------------------------------------------------------
MAX_UPLOAD_BYTES = env.number("CONTEXTLAB_MAX_UPLOAD_MB", 512, least=1, most=1_000_000) * 1024 * 1024
UPLOAD_DIR = private_folder(DATA_DIR / "uploads")
FILE_UPLOAD_TEMP_DIR = str(UPLOAD_DIR)
FILE_UPLOAD_PERMISSIONS = 0o600
# The size of a body that is not a file, held in memory; files go to disk and are bound by MAX_UPLOAD_BYTES.
DATA_UPLOAD_MAX_MEMORY_SIZE = min(MAX_UPLOAD_BYTES, 32 * 1024 * 1024)
DATA_UPLOAD_MAX_NUMBER_FILES = 1000

# Work in the background --------------------------------------------------------------------------
# The run row in the database is the truth and a message only a doorbell, so nothing here guards against loss.
TASK_TIME_LIMIT = env.number("CONTEXTLAB_TASK_TIME_LIMIT", 1800, least=60, most=86_400)
CELERY_BROKER_URL = env.text("CONTEXTLAB_BROKER_URL", "filesystem://localhost")
CELERY_BROKER_TRANSPORT_OPTIONS = transport_options(CELERY_BROKER_URL, DATA_DIR, TASK_TIME_LIMIT)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_IMPORTS = ("contextlab.tasks",)
CELERY_TASK_DEFAULT_QUEUE = env.text("CONTEXTLAB_QUEUE", "contextlab")
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_RESULT_BACKEND = None
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_TIME_LIMIT = TASK_TIME_LIMIT
CELERY_TASK_SOFT_TIME_LIMIT = TASK_TIME_LIMIT - 30
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CONCURRENCY = env.number("CONTEXTLAB_WORKERS", 2, least=1, most=256)
CELERY_WORKER_MAX_MEMORY_PER_CHILD = 400_000  # KiB; a child above it is replaced after its task
CELERY_WORKER_PROC_ALIVE_TIMEOUT = 60.0  # the default of 4 s kills children on a busy machine
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = True
CELERY_TIMEZONE = "UTC"

# A model for summaries -----------------------------------------------------------------------------
# Being set is no consent: it is asked only when a person confirms a run (rule-based summaries need none).
MODEL_BASE_URL = env.text("CONTEXTLAB_MODEL_BASE_URL")
MODEL_NAME = env.text("CONTEXTLAB_MODEL")
MODEL_KEY = env.text("CONTEXTLAB_MODEL_KEY")
MODEL_HOSTS = [name.lower() for name in env.names("CONTEXTLAB_MODEL_HOSTS")]
MODEL_WINDOW = env.number("CONTEXTLAB_MODEL_WINDOW", 100_000, least=4_000, most=10_000_000)

# API ---------------------------------------------------------------------------------------------
# JSON only: the browsable pages need inline scripts. Nobody logs in yet; OriginCheckMiddleware guards writes.
REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": [],
    "DEFAULT_PERMISSION_CLASSES": [],
    "UNAUTHENTICATED_USER": None,
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
}
SPECTACULAR_SETTINGS = {"TITLE": "ContextLab", "VERSION": "1", "SERVE_INCLUDE_SCHEMA": False}

LOG_LEVEL = env.choice("CONTEXTLAB_LOG_LEVEL", ("WARNING", "DEBUG", "INFO", "ERROR"))
LOGGING = logging_config(LOG_LEVEL)
