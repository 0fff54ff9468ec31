# The image for Java snippets. Build it with scripts/images, or by itself:
#   docker build -f containers/Dockerfile.java -t code-sandbox-java:latest containers
ARG BASE=docker.io/library/debian:trixie-slim
FROM ${BASE}

# Only what the base lacks is fetched. Java's packages want a
# directory that small images do without.
ARG PACKAGES="openjdk-21-jdk-headless ca-certificates"
RUN dpkg -s $PACKAGES >/dev/null 2>&1 || { \
        mkdir -p /usr/share/man/man1 && \
        apt-get update && \
        apt-get install -y --no-install-recommends $PACKAGES && \
        rm -rf /var/lib/apt/lists/*; \
    }

# What the JVM loads to compile and start a program, as an archive that it maps:
# a third off the time of a small one.
RUN set -eu; \
    mkdir -p /usr/share/code-sandbox; \
    echo "class Main { public static void main(String[] a) { System.out.println(a.length); } }" >/tmp/Main.java; \
    java -XX:+UseSerialGC -XX:ArchiveClassesAtExit=/usr/share/code-sandbox/java.jsa /tmp/Main.java >/dev/null 2>&1; \
    test -s /usr/share/code-sandbox/java.jsa; \
    chmod a+r /usr/share/code-sandbox/java.jsa; \
    rm -rf /tmp/Main.java /tmp/hsperfdata_root
ENV LANG=C.UTF-8

# Snippets run as an unprivileged user that must not become another one.
RUN find / -xdev -type f -perm /6000 -exec chmod a-s {} + && mkdir -p /sandbox && chmod 1777 /sandbox
WORKDIR /sandbox
CMD ["java"]
