import asyncio


async def shout(reader, writer):
    writer.write((await reader.readline()).upper())
    writer.close()


async def main():
    server = await asyncio.start_unix_server(shout, "/tmp/socket")
    reader, writer = await asyncio.open_unix_connection("/tmp/socket")
    writer.write(b"hello\n")
    print((await reader.readline()).decode(), end="")
    writer.close()
    server.close()


asyncio.run(main())
