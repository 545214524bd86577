"""The driver's copy of a storage context, given answers in an order that a run has by chance."""

from ray.train._internal.storage import StorageContext


class Answers:
    """Fails where the copy does not follow, and leaves a warning where it is to warn."""

    def __init__(self, job):
        self.job = job

    def fit(self):
        from ckptctl.integrations.ray.naming import Naming
        from ckptctl.integrations.ray.storage import hooked

        own = StorageContext(
            storage_path=self.job["storage"],
            experiment_dir_name=self.job["name"],
            trial_dir_name="trial",
        )
        driver = hooked(own, Naming(template=self.job["template"]))
        # Two saves of one result, whose answers come in the wrong order.
        later, earlier = answer(5), answer(4)
        driver._update_checkpoint_index(later)
        driver._update_checkpoint_index(earlier)
        assert earlier == answer(4), earlier
        assert driver.current_checkpoint_index == 5
        assert driver.checkpoint_dir_name == "checkpoint_000005-a"
        # A row whose name the trainable did not give.
        driver.ckptctl_row = "checkpoint_000006-b"
        driver._update_checkpoint_index(answer(6))
        driver._update_checkpoint_index(answer(7))
        assert driver.checkpoint_dir_name == "checkpoint_000007-a"


def answer(number):
    return {"checkpoint_dir_name": f"checkpoint_{number:06d}-a", "training_iteration": number}
