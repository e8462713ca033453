"""Workers as the settings have them, put together with what they say of themselves."""

from __future__ import annotations

import asyncio

from tests.gateway.doubles.chat_double import ChatDouble
from tests.gateway.doubles.sglang import SglangDouble
from tests.gateway.running import gateway, in_front_of


def test_a_chat_server_is_well_that_has_no_page_of_its_health() -> None:
    async def run() -> None:
        async with ChatDouble() as server:
            server.pages["/health"] = None
            async with gateway(in_front_of(server.url)) as door:
                (seat,) = door.parts.fleet.seats()
                assert await seat.worker.is_well()
                server.pages["/v1/models"] = None
                assert not await seat.worker.is_well()

    asyncio.run(run())


def test_any_other_server_is_asked_for_its_health() -> None:
    async def run() -> None:
        async with SglangDouble() as server, gateway(in_front_of(server.url)) as door:
            (seat,) = door.parts.fleet.seats()
            assert await seat.worker.is_well()
            server.pages["/health"] = None
            assert not await seat.worker.is_well()

    asyncio.run(run())
