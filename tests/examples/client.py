"""A client of an application in this process."""

import asyncio
from typing import Any

import httpx


async def call(app: Any, method: str, path: str, **options: Any) -> httpx.Response:
    """One request, and its answer."""
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://server") as client:
        return await client.request(method, path, **options)


class Client:
    """Sends requests one after the other, each in a loop of its own."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def get(self, path: str) -> httpx.Response:
        return asyncio.run(call(self.app, "GET", path))

    def post(self, path: str, **options: Any) -> httpx.Response:
        return asyncio.run(call(self.app, "POST", path, **options))
