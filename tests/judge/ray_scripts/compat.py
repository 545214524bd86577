"""The names the scripts need, wherever the installed Ray keeps them."""

import ray

RAY_VERSION = tuple(int(part) for part in ray.__version__.split(".")[:2])

try:
    from ray.tune import (
        Checkpoint,
        CheckpointConfig,
        FailureConfig,
        RunConfig,
        get_checkpoint,
        get_context,
        report,
    )
except ImportError:
    if RAY_VERSION < (2, 7):
        from ray.air import (
            Checkpoint,
            CheckpointConfig,
            FailureConfig,
            RunConfig,
            session,
        )

        get_checkpoint = session.get_checkpoint
        report = session.report

        def get_context():
            return session
    else:
        from ray.train import (
            Checkpoint,
            CheckpointConfig,
            FailureConfig,
            RunConfig,
            get_checkpoint,
            get_context,
            report,
        )

try:
    from ray.tune import Result
except ImportError:
    from ray.air import Result

__all__ = [
    "RAY_VERSION",
    "Checkpoint",
    "CheckpointConfig",
    "FailureConfig",
    "Result",
    "RunConfig",
    "get_checkpoint",
    "get_context",
    "report",
]
