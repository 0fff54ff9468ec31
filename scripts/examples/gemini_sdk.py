#!/usr/bin/env python3
"""Lets Gemini answer a question with the help of the sandbox.

Not part of the tests: it needs a key in GEMINI_API_KEY, the network, and two
packages (pip install google-genai mcp).

    gemini_sdk.py [QUESTION]
"""
import asyncio
import os
import sys

from google import genai
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

QUESTION = "Compute the sum of the first 50 prime numbers. Use Python."


async def main():
    client = genai.Client(api_key=os.environ["GEMINI_API_KEY"])
    server = StdioServerParameters(command="code-sandbox-mcp")
    async with stdio_client(server) as (read, write):
        async with ClientSession(read, write) as session:
            await session.initialize()
            answer = await client.aio.models.generate_content(
                model="gemini-2.5-flash",
                contents=" ".join(sys.argv[1:]) or QUESTION,
                config=genai.types.GenerateContentConfig(tools=[session]),
            )
            print(answer.text)


if __name__ == "__main__":
    asyncio.run(main())
