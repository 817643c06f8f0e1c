"""Mixture of experts: many feed-forward networks, of which each token visits a few.

Router                  scores the experts for each token and chooses k of them
ExpertList              experts of any kind, one module each
GatedExperts            gated experts with their weights stacked, the fast kind
MixtureOfExperts        the layer: route, group by expert, compute, mix
load_balancing_loss     for training: all experts are used; router_z_loss keeps logits small
"""

from pieces.moe.balance import load_balancing_loss, router_z_loss, watch_routing
from pieces.moe.experts import ExpertList, GatedExperts
from pieces.moe.layer import MixtureOfExperts
from pieces.moe.router import (
    Router,
    Routing,
    route,
    route_softmax_first,
    route_unnormalised,
    within_capacity,
)

__all__ = [
    "ExpertList",
    "GatedExperts",
    "MixtureOfExperts",
    "Router",
    "Routing",
    "load_balancing_loss",
    "route",
    "route_softmax_first",
    "route_unnormalised",
    "router_z_loss",
    "watch_routing",
    "within_capacity",
]
