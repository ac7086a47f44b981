/** What one response is, as its client sees it: whole and right, an error as its protocol words it, or neither. */

import { failureIn } from '../support/failed-streams.js';
import type { ProtocolEndpoint, JsonObject } from '../support/scripted-upstream.js';
import { readResponse, readStream } from '../support/protocol-doubles.js';
import { readEvents, withoutKeepAlives } from '../support/stream-text.js';

export type Judgement =
  | { readonly kind: 'whole'; readonly costNanos: bigint; readonly text: string }
  | { readonly kind: 'error'; readonly said: string }
  /** Nothing that a client may ever be answered. */
  | { readonly kind: 'improper'; readonly said: string };

const CLEAN_END = /\[DONE\]|"finish_reason":"|message_stop|response\.completed/;

export function judge(protocol: ProtocolEndpoint, stream: boolean, response: Response, text: string): Judgement {
  try {
    const id = response.headers.get('x-request-id') ?? '';
    if (id === '' || response.headers.get('request-id') !== id) throw new Error('It has not both ids.');
    if (response.status !== 200) return { kind: 'error', said: `${response.status} ${messageIn(protocol, text, id)}` };
    if (stream) {
      const failure = failureOf(protocol, text, id);
      if (failure !== undefined) return { kind: 'error', said: failure };
    }
    const received = stream ? readStream(protocol, text) : readResponse(protocol, JSON.parse(text) as JsonObject);
    const { prompt, completion } = received.usage;
    return { kind: 'whole', costNanos: BigInt(prompt * 1000 + completion * 10_000), text: received.text };
  } catch (error) {
    return { kind: 'improper', said: `${String(error).slice(0, 300)} in ${response.status} …${text.slice(-300)}` };
  }
}

/** @throws when it is no error of the protocol */
function messageIn(protocol: ProtocolEndpoint, text: string, id: string): string {
  const body = JSON.parse(text) as { readonly type?: string; readonly error: { readonly message: string } };
  if (protocol === 'messages' && body.type !== 'error') throw new Error('It is no error of Messages.');
  if (!body.error.message.endsWith(`(request id: ${id})`)) throw new Error('Its message does not end with its id.');
  return body.error.message.slice(0, 100);
}

/** How a stream says that it has failed; undefined when it does not. @throws when it does so in a wrong way */
function failureOf(protocol: ProtocolEndpoint, text: string, id: string): string | undefined {
  const events = readEvents(withoutKeepAlives(text));
  const at = failureIn(events);
  if (at === events.length) return undefined;
  const [sent, ending] = [events.slice(0, at), events.slice(at)];
  if (sent.some(({ event = '', data }) => CLEAN_END.test(`${event} ${data}`))) throw new Error('It ends twice.');
  const names = ending.map(({ event, data }) => event ?? data);
  const isProper = protocol === 'responses' ? names.join() === 'error,response.failed,[DONE]' : ending.length === 1;
  if (!isProper) throw new Error(`It fails in a wrong way: ${names.join()}`);
  return messageIn(protocol, ending[0]?.data ?? '', id);
}
