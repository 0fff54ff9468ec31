# The image for R snippets. Build it with scripts/images, or by itself:
#   docker build -f containers/Dockerfile.r -t code-sandbox-r:latest containers
ARG BASE=docker.io/library/debian:trixie-slim
FROM ${BASE}

# Only what the base lacks is fetched.
ARG PACKAGES="r-base-core ca-certificates"
RUN dpkg -s $PACKAGES >/dev/null 2>&1 || { \
        apt-get update && \
        apt-get install -y --no-install-recommends $PACKAGES && \
        rm -rf /var/lib/apt/lists/*; \
    }
ENV LANG=C.UTF-8

# Snippets run as an unprivileged user that must not become another one.
RUN find / -xdev -type f -perm /6000 -exec chmod a-s {} + && mkdir -p /sandbox && chmod 1777 /sandbox
WORKDIR /sandbox
CMD ["R"]
