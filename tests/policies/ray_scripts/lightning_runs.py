"""Lightning under Ray: `LightningTrainer` of Ray 2.6, and the report callback of today."""

import os

import torch

try:
    import lightning.pytorch as pl
except ImportError:
    import pytorch_lightning as pl

from kinds import run_config, scaling, v2_configs


class Tiny(pl.LightningModule):
    """Its validation loss falls, rises and falls, so that the best is not the latest."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, index):
        loss = self.layer(batch[0]).pow(2).mean()
        self.log("train_loss", loss)
        return loss

    def validation_step(self, batch, index):
        fixed = (0.5, 0.3, 0.1, 0.4, 0.2, 0.6)[self.current_epoch % 6]
        self.log("val_loss", torch.tensor(fixed))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def loader():
    return torch.utils.data.DataLoader(
        torch.utils.data.TensorDataset(torch.randn(16, 4)), batch_size=4
    )


def legacy(job):
    from ray.train.lightning import LightningConfigBuilder, LightningTrainer

    builder = (
        LightningConfigBuilder()
        .module(cls=Tiny)
        .trainer(max_epochs=6, accelerator="cpu", enable_progress_bar=False, logger=False)
        .fit_params(train_dataloaders=loader(), val_dataloaders=loader())
        .checkpointing(**job["saver"])
    )
    return LightningTrainer(
        lightning_config=builder.build(), scaling_config=scaling(), run_config=run_config(job)
    )


def loop(config):
    if config["records"]:
        from ckptctl.integrations.ray import record_ranking

        record_ranking()
    from ray.train.lightning import RayDDPStrategy, RayLightningEnvironment
    from ray.train.lightning import RayTrainReportCallback, prepare_trainer

    trainer = pl.Trainer(
        max_epochs=6,
        accelerator="cpu",
        devices="auto",
        strategy=RayDDPStrategy(),
        plugins=[RayLightningEnvironment()],
        callbacks=[pl.callbacks.ModelCheckpoint(**config["saver"]), RayTrainReportCallback()],
        enable_progress_bar=False,
        logger=False,
    )
    prepare_trainer(trainer).fit(Tiny(), loader(), loader())


def today(job):
    from ray.train.torch import TorchTrainer

    settings = {"saver": job["saver"], "records": job.get("records")}
    if os.environ.get("RAY_TRAIN_V2_ENABLED") == "1":
        configs = v2_configs({**job, "workers": 1})
    else:
        configs = {"run_config": run_config(job), "scaling_config": scaling()}
    return TorchTrainer(loop, train_loop_config=settings, **configs)
