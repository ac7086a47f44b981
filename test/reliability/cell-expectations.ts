/** What must hold of one call of the fault matrix: its response, its row, its attempts, its money. */

import { DataSource } from 'typeorm';
import { expectError, expectIds } from '../support/api-errors.js';
import { expectFailedEnding, failureIn } from '../support/failed-streams.js';
import { tokensIn } from '../support/prose.js';
import type { StoredCall } from '../support/relay-app.js';
import type { ProtocolEndpoint, JsonObject, RecordedRequest } from '../support/scripted-upstream.js';
import { readResponse, readStream } from '../support/protocol-doubles.js';
import { type ReadEvent, readEvents, withoutKeepAlives } from '../support/stream-text.js';
import { RESPONSE, BEGINNING, SECOND_RESPONSE, SECOND_USAGE, USAGE } from './fault-scripts.js';
import type { Failure } from './faults.js';
import { type MatrixCall, type Cell, channelOf, type MatrixRelay } from './matrix-relay.js';

/** `answered` by the first channel or the second; `refused` before anything was sent; `broken` off behind content. */
type Outcome =
  | { readonly end: 'answered'; readonly by: 'first' | 'second' }
  | { readonly end: 'refused'; readonly failure: Failure }
  | { readonly end: 'broken'; readonly failure: Failure };

/** What an account has to begin with, in nanos. */
const CREDIT = 10_000_000_000n;
/** `$1` per million tokens in, `$10` out, in nanos. */
const priceOf = (prompt: number, output: number): bigint => BigInt(prompt * 1000 + output * 10_000);
const PRIVATE = /127\.0\.0\.1|localhost|ECONN|socket|upstream-secret/i;
/** What only a response that is complete has in it. */
const CLEAN_END = /\[DONE\]|"finish_reason":"|message_stop|response\.completed|response\.incomplete/;

/** Whether the upstream of the cell is asked for a stream: a translated response is, whoever it is for. */
const isStreamedUp = ({ stream, client, upstream }: Cell): boolean => stream || client !== upstream;

export const isPossible = (cell: Cell): boolean => cell.fault.onlyStreams !== true || isStreamedUp(cell);

const failureOf = (cell: Cell): Failure | undefined =>
  cell.fault.failure({ protocol: cell.upstream, streamed: isStreamedUp(cell) });

function outcomeOf(cell: Cell): Outcome {
  const failure = failureOf(cell);
  if (failure === undefined) return { end: 'answered', by: 'first' };
  // Whoever waits for the whole has seen nothing of it: another channel may still answer.
  if (cell.fault.isBegun === true && cell.stream) return { end: 'broken', failure };
  if (cell.isDouble && failure.isFinal !== true) return { end: 'answered', by: 'second' };
  return { end: 'refused', failure };
}

/** Asks, and checks everything. */
export async function expectCell(world: MatrixRelay, cell: Cell): Promise<void> {
  const requested = await world.ask(cell);
  const outcome = outcomeOf(cell);
  await expectResponse(cell, outcome, requested.response);
  const row = await world.relay.onlyCall(requested.caller);
  await Promise.all(requested.requests.map(({ closed }) => closed));
  expectRow(cell, outcome, row, requested.response);
  expectCharge(world, outcome, row, requested.requests);
  await expectAttempts(world, cell, outcome, row);
  await expectWallet(world, requested, row);
}

async function expectResponse(cell: Cell, outcome: Outcome, response: Response): Promise<void> {
  if (outcome.end === 'refused') return expectRefusal(cell, outcome.failure, response);
  const text = await response.text();
  expect([response.status, text.slice(0, 500)]).toEqual([200, expect.anything()]);
  const id = expectIds(response);
  if (outcome.end === 'broken') return expectBroken(cell, outcome.failure, text, id);
  const received = cell.stream
    ? readStream(cell.client, text)
    : readResponse(cell.client, JSON.parse(text) as JsonObject);
  const [words, usage] =
    outcome.by === 'first' ? [cell.fault.says ?? RESPONSE, USAGE] : [SECOND_RESPONSE, SECOND_USAGE];
  // By its length first: of an event of 2 MB nobody wants to read a difference.
  expect([received.text.length, received.text === words]).toEqual([words.length, true]);
  expect(received).toMatchObject({ stop: 'end', usage });
}

async function expectRefusal({ client }: Cell, failure: Failure, response: Response): Promise<void> {
  const { situation, retryAfter } = failure;
  const message = await expectError(client, response, situation);
  expect(message).not.toMatch(PRIVATE);
  if (retryAfter !== undefined) expect(response.headers.get('retry-after')).toBe(retryAfter);
}

/** The beginning of one response, and then the failure in the client's own words: no other response, and no clean end. */
function expectBroken({ client }: Cell, { situation }: Failure, text: string, id: string): void {
  const events = readEvents(withoutKeepAlives(text));
  const at = failureIn(events);
  const [sent, ending] = [events.slice(0, at), events.slice(at)];
  const message = expectFailedEnding(client, { id, sent, ending }, situation);
  expect(message).not.toMatch(PRIVATE);
  expect(sent.map(({ event = '', data }) => `${event} ${data}`).filter((said) => CLEAN_END.test(said))).toEqual([]);
  expect(sent.map((event) => textIn(client, event)).join('')).toBe(BEGINNING);
  expect(text).not.toContain('Omega');
}

/** What an event of a stream adds to the text. */
function textIn(protocol: ProtocolEndpoint, { data }: ReadEvent): string {
  const event = JSON.parse(data) as Readonly<Record<string, unknown>>;
  if (protocol === 'chat-completions') {
    const [choice] = event['choices'] as { readonly delta: { readonly content?: string } }[];
    return choice?.delta.content ?? '';
  }
  const { delta } = event;
  if (protocol === 'responses') return event['type'] === 'response.output_text.delta' ? String(delta) : '';
  return event['type'] === 'content_block_delta' ? (delta as { readonly text: string }).text : '';
}

function expectRow(cell: Cell, outcome: Outcome, row: StoredCall, response: Response): void {
  // Of a second channel only a response is expected.
  const by = outcome.end === 'answered' ? outcome.by : 'first';
  expect(row).toMatchObject({
    id: response.headers.get('x-request-id'),
    protocol: cell.client,
    upstream_protocol: cell.upstream,
    stream: cell.stream,
    status: outcome.end === 'answered' ? 'succeeded' : 'failed',
    error_reason: outcome.end === 'answered' ? '' : outcome.failure.situation.reason,
    attempts: by === 'first' ? 1 : 2,
    channel: channelOf(cell, by),
    uncollected: '0',
    billing_basis: { answered: 'reported', refused: 'free', broken: 'partial' }[outcome.end],
  });
  expect(row['error_message']).not.toMatch(PRIVATE);
}

/**
 * What the upstreams would bill for a call, less what is given away by rule: exactly what was reported; nothing for no
 * answer, nor for attempts that another channel has mended; of a response that broke off, about what was sent of it.
 */
function dueFor(
  outcome: Outcome,
  [first]: readonly RecordedRequest[],
): { readonly least: bigint; readonly most: bigint } {
  if (outcome.end === 'refused') return { least: 0n, most: 0n };
  if (outcome.end === 'broken') {
    const due = priceOf(USAGE.prompt, tokensIn(first!.sent));
    return { least: due / 2n, most: due * 2n };
  }
  const { prompt, completion } = outcome.by === 'first' ? USAGE : SECOND_USAGE;
  const due = priceOf(prompt, completion);
  return { least: due, most: due };
}

function expectCharge(world: MatrixRelay, outcome: Outcome, row: StoredCall, requests: MatrixCall['requests']): void {
  const charged = BigInt(row['cost'] as string);
  const { least, most } = dueFor(outcome, requests);
  expect(charged).toBeGreaterThanOrEqual(least);
  expect(charged).toBeLessThanOrEqual(most);
  world.due.least += least;
  world.due.most += most;
}

async function expectAttempts(world: MatrixRelay, cell: Cell, outcome: Outcome, row: StoredCall): Promise<void> {
  const failure = failureOf(cell);
  const first = [channelOf(cell, 'first'), cell.fault.status, failure?.situation.reason ?? 'succeeded'];
  const second = [channelOf(cell, 'second'), 200, 'succeeded'];
  const attempts = await world.relay.attempts(row.id);
  expect(attempts.map((attempt) => [attempt['channel'], attempt['upstream_status'], attempt['outcome']])).toEqual(
    outcome.end === 'answered' && outcome.by === 'second' ? [first, second] : [first],
  );
}

/** Nothing is on hold, and what is gone is what the row says. */
async function expectWallet(world: MatrixRelay, { caller }: MatrixCall, row: StoredCall): Promise<void> {
  const [left] = await world.relay.get(DataSource).query<JsonObject[]>(
    `SELECT w.balance, w.held, w.holds, k.used, k.held AS held_of_key
       FROM wallets w JOIN api_keys k USING (account_id) WHERE account_id = $1`,
    [caller.accountId],
  );
  const cost = row['cost'] as string;
  const balance = String(CREDIT - BigInt(cost));
  expect(left).toEqual({ balance, held: '0', holds: 0, used: cost, held_of_key: '0' });
}
