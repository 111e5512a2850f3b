"""The typed client of the question service: one method per call. `calls` makes them."""

from __future__ import annotations

from service.client.admin import AdminCalls
from service.client.bots import BotCalls
from service.client.calls import ServiceRefused, ServiceUnavailable, caller_header
from service.client.competitions import CompetitionCalls
from service.client.member import MemberCalls
from service.client.review import ReviewCalls
from service.client.web import WebCalls


class ServiceClient(MemberCalls, CompetitionCalls, AdminCalls, ReviewCalls, BotCalls, WebCalls):
    """One method per call. Every call raises ServiceRefused or ServiceUnavailable, nothing else."""


__all__ = ["ServiceClient", "ServiceRefused", "ServiceUnavailable", "caller_header"]
