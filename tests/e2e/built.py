"""Images that a test makes for itself."""

import os
import shutil
import tempfile
import uuid
from pathlib import Path


def built(engine, dockerfile, *files, image=None):
    name = f"localhost/code-sandbox-test-{uuid.uuid4().hex}"
    with tempfile.TemporaryDirectory(prefix="csm-") as directory:
        os.chmod(directory, 0o755)
        Path(directory, "Dockerfile").write_text(dockerfile.format(image=image or engine.python_image))
        for file in files:
            shutil.copy(file, directory)
        # A health check is not in every format of images.
        engine.run("build", "--network=none", f"--tag={name}", directory,
                   env={"DOCKER_BUILDKIT": "0", "BUILDAH_FORMAT": "docker"})
    yield name
    engine.run("rmi", "--force", name)
