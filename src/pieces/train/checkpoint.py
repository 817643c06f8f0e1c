"""A run in a file: written whole or not at all, read whole or not at all."""

import math
import os
import pickle
from dataclasses import asdict
from pathlib import Path
from typing import Any, NoReturn

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.optim import Optimizer

from pieces.checks import checked, refuse, require
from pieces.distributed import rank_and_world
from pieces.train.config import TrainConfig

DAMAGE = (pickle.UnpicklingError, RuntimeError, EOFError, LookupError, TypeError, ValueError)
DAMAGE += (AttributeError, UnicodeError)


@checked
class Checkpoint:
    """The file of a run. Of several processes the first reads and writes, and tells the others."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.part = self.path.with_name(self.path.name + ".part") if self.path.name else self.path
        self.rank, self.world = rank_and_world()

    def write(
        self,
        model: nn.Module,
        optimizer: Optimizer,
        data: torch.Generator,
        config: TrainConfig,
        record: dict[str, list[float]],
    ) -> None:
        """Put the new file in the place of the old one when it is complete.

        Raises: FloatingPointError if a weight is no number; the old file stays.
        """
        for name, weight in model.named_parameters():
            still_finite(name, float(weight.detach().abs().max()) if weight.numel() else 0.0)
        random = self._gathered(_random_state(next(model.parameters()).device))
        if self.rank > 0:
            return
        state = {
            "config": asdict(config),
            "model": model.state_dict(),
            "optimizer": optimizer.state_dict(),
            "data": data.get_state(),
            "random": random,
            "record": record,
        }
        try:
            with self.part.open("wb") as file:
                torch.save(state, file)
                file.flush()
                os.fsync(file.fileno())
            self.part.replace(self.path)
        finally:
            self.part.unlink(missing_ok=True)

    def resume(
        self, model: nn.Module, optimizer: Optimizer, data: torch.Generator, config: TrainConfig
    ) -> dict[str, list[float]]:
        """Go on from the file, if it is there; everything is read before anything is changed."""
        state = self._shared()
        if state is None:
            return {"losses": [], "norms": []}
        try:
            theirs = TrainConfig(**state["config"])
            losses, norms = (list(map(float, state["record"][x])) for x in ("losses", "norms"))
            weights, moments, drawn = dict(state["model"]), state["optimizer"], state["data"]
            random = [(cpu, gpu) for cpu, gpu in state["random"]]
            for generator in (drawn, *(cpu for cpu, _ in random)):
                torch.Generator().set_state(generator)
        except DAMAGE as error:
            self._refuse(f"is no checkpoint of a run ({type(error).__name__}: {error})")
        ours, theirs = asdict(config), asdict(theirs)
        other = [name for name in ours if ours[name] != theirs[name]]
        seen, wanted = ({name: x[name] for name in other} for x in (ours, theirs))
        rule = f"the checkpoint was trained with {wanted}"
        remedy = f"use its config, or a file other than {self.path}"
        require(not other, "config", seen, rule, remedy)
        if not len(losses) == len(norms) <= config.steps:
            self._refuse(f"tells {len(losses)} losses and {len(norms)} norms")
        self._require_same(_kinds(weights), _kinds(model.state_dict()))
        self._load_moments(optimizer, moments)
        model.load_state_dict(weights)
        data.set_state(drawn)
        if len(random) == self.world:  # with other numbers of processes, dropout begins anew
            _restore_random(random[self.rank], next(model.parameters()).device)
        return {"losses": losses, "norms": norms}

    def _shared(self) -> dict[str, Any] | None:
        """What the first process reads, or its error, in all of them."""
        found: list[Any] = [None]
        if self.rank == 0:
            try:
                found = [self._read()]
            except ValueError as error:
                found = [error]
        if self.world > 1:
            dist.broadcast_object_list(found)
        if isinstance(found[0], ValueError):
            raise found[0]
        return found[0]

    def _read(self) -> dict[str, Any] | None:
        """The file's content, None if there is no file yet."""
        try:
            self.part.open("wb").close()
            self.part.unlink()
            if not self.path.exists():
                return None
            self.path.open("rb").close()
        except OSError as error:
            self._refuse(f"cannot be read and written ({error.strerror})")
        try:
            state = torch.load(self.path, map_location="cpu", weights_only=True)
        except (OSError, *DAMAGE) as error:
            self._refuse(f"is damaged ({type(error).__name__})")
        if not isinstance(state, dict):
            self._refuse("is no checkpoint of a run")
        return state

    def _require_same(self, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
        """Refuse weights of another model: each name is wanted once, with its shape and dtype."""
        for name in sorted(theirs.keys() | ours.keys()):
            if theirs.get(name) != ours.get(name):
                seen, wanted = (x.get(name, "nothing") for x in (theirs, ours))
                self._refuse(f"holds {seen} as {name!r}, where the model has {wanted}")

    def _load_moments(self, optimizer: Optimizer, moments: Any) -> None:
        """AdamW's running means, each of the shape of its parameter."""
        try:
            optimizer.load_state_dict(moments)
            for parameter in (p for group in optimizer.param_groups for p in group["params"]):
                for name in ("exp_avg", "exp_avg_sq"):
                    if optimizer.state[parameter][name].shape != parameter.shape:
                        raise ValueError(f"{name} is not {tuple(parameter.shape)}")
        except DAMAGE as error:
            self._refuse(f"holds an optimizer of other parameters ({error})")

    def _gathered(self, mine: Any) -> list[Any]:
        """One of each process, in the first of them."""
        if self.world == 1:
            return [mine]
        gathered: list[Any] = [None] * self.world
        dist.all_gather_object(gathered, mine)
        return gathered

    def _refuse(self, rule: str) -> NoReturn:
        """Name the file, and a way out."""
        remedy = "give the path of another file, or delete this one to begin anew"
        refuse("checkpoint", str(self.path), rule, remedy)


def still_finite(what: str, value: float) -> None:
    """Stop a run that has left the numbers. Raises: FloatingPointError."""
    if not math.isfinite(value):
        remedy = "lower lr, lengthen warmup, or clip harder"
        refuse(what, value, "must be finite", remedy, FloatingPointError)


def _kinds(weights: dict[str, Any]) -> dict[str, str]:
    """What each name holds."""
    tensors = {name: x for name, x in weights.items() if isinstance(x, Tensor)}
    kinds = {name: f"{x.dtype} {tuple(x.shape)}" for name, x in tensors.items()}
    return dict.fromkeys(weights, "no tensor") | kinds


def _random_state(device: torch.device) -> tuple[Tensor, Tensor | None]:
    """Where the generators stand that dropout draws from."""
    on_gpu = device.type == "cuda"
    return torch.get_rng_state(), torch.cuda.get_rng_state(device) if on_gpu else None


def _restore_random(state: tuple[Tensor, Tensor | None], device: torch.device) -> None:
    """Let dropout go on where it was."""
    torch.set_rng_state(state[0])
    if device.type == "cuda" and state[1] is not None:
        torch.cuda.set_rng_state(state[1], device)
