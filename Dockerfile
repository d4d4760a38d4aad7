# The action's image: the product in an environment of its own, git to make patches, runsc to install on the host, and
# squid for the set-up egress proxy.

# What the product depends on, apart from the rest of pyproject.toml, so that only a change in this is installed anew.
FROM python:3.13-slim-trixie AS needs
COPY pyproject.toml .
RUN python3 -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" > /needs.txt

FROM python:3.13-slim-trixie AS build
WORKDIR /src
COPY requirements.lock ./
RUN python3 -m venv /opt/build \
    && /opt/build/bin/python -m pip install --no-cache-dir --constraint requirements.lock hatchling
COPY --from=needs /needs.txt ./
RUN python3 -m venv --without-pip /opt/selfrepair \
    && /opt/build/bin/python -m pip --python /opt/selfrepair/bin/python install --no-cache-dir --constraint requirements.lock --requirement needs.txt
COPY pyproject.toml LICENSE README.md ./
COPY bot ./bot
RUN /opt/build/bin/python -m pip wheel --no-cache-dir --no-deps --no-build-isolation --wheel-dir /dist . \
    && /opt/build/bin/python -m pip --python /opt/selfrepair/bin/python install --no-cache-dir --no-deps --no-index --prefix /opt/product /dist/*.whl

FROM python:3.13-slim-trixie
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends git runsc squid \
    && rm -rf /var/lib/apt/lists/* /var/log/*
COPY --from=build /opt/selfrepair /opt/selfrepair
COPY --from=build /opt/product /opt/selfrepair
ENV PYTHONUNBUFFERED=1
LABEL org.opencontainers.image.title="selfrepair" \
      org.opencontainers.image.description="Repairs red CI runs in a gVisor sandbox" \
      org.opencontainers.image.licenses="MIT"
ENTRYPOINT ["/opt/selfrepair/bin/selfrepair"]
CMD ["action"]
