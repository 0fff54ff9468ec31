# The image for Go snippets. Build it with scripts/images, or by itself:
#   docker build -f containers/Dockerfile.go -t code-sandbox-go:latest containers
ARG BASE=docker.io/library/debian:trixie-slim
FROM ${BASE}

# Only what the base lacks is fetched.
ARG PACKAGES="golang-go ca-certificates"
RUN dpkg -s $PACKAGES >/dev/null 2>&1 || { \
        apt-get update && \
        apt-get install -y --no-install-recommends $PACKAGES && \
        rm -rf /var/lib/apt/lists/*; \
    }

# Go comes without its standard library compiled, and to do that takes longer than
# a snippet has. There is no C compiler in the image.
ENV CGO_ENABLED=0
RUN export HOME=/tmp/go GODEBUG=installgoroot=all && go install -p 2 std && rm -rf /tmp/go
ENV LANG=C.UTF-8

# Snippets run as an unprivileged user that must not become another one.
RUN find / -xdev -type f -perm /6000 -exec chmod a-s {} + && mkdir -p /sandbox && chmod 1777 /sandbox
WORKDIR /sandbox
CMD ["go"]
