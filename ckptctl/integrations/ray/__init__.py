"""Names and indexes of checkpoints at the source: inside the Ray that writes them.

Extra ``ckptctl[ray]``. Ray is imported on the first call, not with this package.

- `checkpoint_naming`, `checkpoint_index`: Tune and Train V1, Ray 2.8 and newer
- `checkpoint_names`: Train V2, in the training loop
- `checkpoint_scan`: a callback that scans before a restored run goes on, and at its end
"""

from __future__ import annotations

from ckptctl.integrations.ray.hook import Installed, checkpoint_index, checkpoint_naming
from ckptctl.integrations.ray.scanning import checkpoint_scan
from ckptctl.integrations.ray.train_v2 import CheckpointNames, checkpoint_names, record_ranking

__all__ = [
    "CheckpointNames",
    "Installed",
    "checkpoint_index",
    "checkpoint_names",
    "checkpoint_naming",
    "checkpoint_scan",
    "record_ranking",
]
