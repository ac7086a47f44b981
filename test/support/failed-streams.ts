/** How the stream of a call that fails has to end, in each protocol (errors in streams, protocols.md). */

import { plain, type Situation } from './api-errors.js';
import type { ProtocolEndpoint, JsonObject } from './scripted-upstream.js';
import type { ReadEvent } from './stream-text.js';

export interface FailedStream {
  /** The request's. */
  readonly id: string;
  /** The events of the response itself, pings apart. */
  readonly sent: readonly ReadEvent[];
  /** Those behind them. */
  readonly ending: readonly ReadEvent[];
}

/** Where the first event of failure stands; the number of events when there is none. */
export function failureIn(events: readonly ReadEvent[]): number {
  const at = events.findIndex(({ event, data }) => event === 'error' || data.startsWith('{"error":'));
  return at < 0 ? events.length : at;
}

/** The words of the one error at the end, without the request's id; no protocol’s clean end is near it. */
export function expectFailedEnding(
  protocol: ProtocolEndpoint,
  { id, sent, ending }: FailedStream,
  situation: Situation,
): string {
  if (protocol === 'responses') return expectFailedResponse({ id, sent, ending }, situation);
  expect(ending).toHaveLength(1);
  const [{ event, data } = { event: '', data: '' }] = ending;
  const body = JSON.parse(data) as { error: { message: string } };
  const { message } = body.error;
  if (protocol === 'chat-completions') {
    const [, type, code] = situation.openai;
    expect(event).toBeUndefined();
    expect(body).toEqual({ error: { message, type, param: null, code } });
  } else {
    expect(event).toBe('error');
    expect(body).toEqual({ type: 'error', error: { type: situation.messages[1], message }, request_id: id });
  }
  return plain(message, id);
}

/** Codex repeats only turns that failed with a code that it knows (§5.5), so all but these few are `server_error`. */
const codexCode = ({ openai: [, , code] }: Situation): string =>
  ['rate_limit_exceeded', 'server_is_overloaded'].includes(code ?? '') ? (code ?? '') : 'server_error';

function expectFailedResponse({ id, sent, ending }: FailedStream, situation: Situation): string {
  const code = codexCode(situation);
  const reported = sent.map(({ data }) => JSON.parse(data) as JsonObject);
  const created = reported[0]?.['response'] as JsonObject | undefined;
  expect(ending.map(({ event, data }) => event ?? data)).toEqual(['error', 'response.failed', '[DONE]']);
  const [error, failed] = ending.slice(0, 2).map(({ data }) => JSON.parse(data) as JsonObject);
  const { message } = error as { message: string };
  // Flat for one SDK, nested for Open Responses and another.
  const nested = { type: situation.openai[1], code, message, param: null };
  expect(error).toEqual({ type: 'error', sequence_number: reported.length, code, message, param: null, error: nested });
  expect(failed).toMatchObject({
    type: 'response.failed',
    sequence_number: reported.length + 1,
    response: { object: 'response', status: 'failed', error: { code, message } },
  });
  if (created) expect(failed).toMatchObject({ response: { id: created['id'], created_at: created['created_at'] } });
  return plain(message, id);
}
