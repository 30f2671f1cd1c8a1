# One image for web server, worker and migration; docker-compose.yml says how they work together.
FROM python:3.11-slim AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
WORKDIR /build
COPY requirements.lock .
# toktok-rs only makes counting faster; where it has no wheel the image is built without it.
RUN python -m venv /venv \
    && (/venv/bin/pip install --only-binary toktok-rs -r requirements.lock \
        || (grep -v '^toktok-rs' requirements.lock > rest.lock && /venv/bin/pip install -r rest.lock))

FROM python:3.11-slim
ENV PATH=/venv/bin:$PATH \
    PYTHONPATH=/app \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    CONTEXTLAB_DATA=/data \
    CONTEXTLAB_STATIC_ROOT=/app/staticfiles
RUN useradd --uid 10001 --no-create-home --shell /usr/sbin/nologin contextlab \
    && install -d -o contextlab -g contextlab -m 700 /data
COPY --from=build /venv /venv
WORKDIR /app
COPY manage.py pyproject.toml LICENSE ./
COPY contextlab contextlab
COPY templates templates
COPY static static
RUN python -m compileall -q contextlab \
    && CONTEXTLAB_DATA=/tmp/build python manage.py collectstatic --noinput && rm -rf /tmp/build
USER 10001
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=15s --timeout=5s --start-period=30s --retries=4 \
    CMD ["python", "-m", "contextlab.config.probe"]
# Inside a container it listens everywhere; publish the port on 127.0.0.1 only, for nobody logs in.
CMD ["python", "-m", "contextlab.config.serve", "--host", "0.0.0.0"]
