/** Answers as they come over a connection of their own: their chunks are those that the upstream wrote. */

import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http';

/** Posts a request and gives the response as it starts. */
export async function openResponse(url: string, body: unknown = {}): Promise<[IncomingMessage, ClientRequest]> {
  const client = openRequest(url, { method: 'POST', agent: false });
  client.end(JSON.stringify(body));
  const [response] = (await once(client, 'response')) as [IncomingMessage];
  // Tests that break connections look at the chunks they got, not at this event.
  client.on('error', () => undefined);
  return [response, client];
}

export async function chunksOf(url: string, body?: unknown): Promise<Buffer[]> {
  const [response] = await openResponse(url, body);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return chunks;
}
