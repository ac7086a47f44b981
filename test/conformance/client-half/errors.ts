import { AppError, type ErrorKind } from '../../../src/platform/shared/index.js';
import { eventsOf, SseSplitter } from '../../../src/protocols/contract/index.js';
import type { ResponseOptions } from '../../support/scripted-content.js';
import { readEvents } from '../../support/stream-text.js';
import type { Abilities, Check } from '../abilities.js';
import { CALLING_TWICE, HELLO } from '../examples.js';
import type { ClientAbility } from './ability.js';
import type { ClientHalf } from './half.js';
import { responseSaying, bodyOf, contextOf, written } from './client-calls.js';

/** Exhaustive, checked by the compiler. */
const KINDS: Readonly<Record<ErrorKind, true>> = {
  invalid_token: true,
  permission_denied: true,
  insufficient_quota: true,
  invalid_request: true,
  context_length_exceeded: true,
  model_not_found: true,
  not_found: true,
  method_not_allowed: true,
  upgrade_required: true,
  conflict: true,
  request_too_large: true,
  request_timeout: true,
  unsupported_media_type: true,
  rate_limit_exceeded: true,
  server_is_overloaded: true,
  unavailable: true,
  shutting_down: true,
  upstream_error: true,
  upstream_auth: true,
  upstream_truncated: true,
  timeout: true,
  internal: true,
  context_canceled: true,
};

type Errors = Extract<ClientAbility, 'errors' | 'errors in streams'>;

/** Every error can be rendered before and within a response. */
export const errors = (half: ClientHalf): Abilities<Errors> => ({
  errors: { checks: [...(Object.keys(KINDS) as ErrorKind[]).map((kind) => said(half, kind)), retried(half)] },
  'errors in streams': { checks: [...failures(half), behindTail(half)] },
});

const said = (half: ClientHalf, kind: ErrorKind): Check => ({
  name: `renders ${kind} over HTTP and in a stream (cases 95 and 98)`,
  run() {
    const error = new AppError(kind, 'This went wrong.');
    const { status, body } = half.protocol.renderError(error, 'req_7');
    expect(status).toBeGreaterThanOrEqual(400);
    expect(JSON.stringify(body)).toContain('This went wrong. (request id: req_7)');

    const context = contextOf(half, bodyOf(half, HELLO, true));
    const ending = half.protocol.renderStream(context).fail(error);
    half.client.expectFailure([], readEvents(ending));
    expect(ending).toContain(`This went wrong. (request id: ${context.call.id})`);
  },
});

const retried = (half: ClientHalf): Check => ({
  name: 'states when a retry is useful',
  run() {
    const error = new AppError('rate_limit_exceeded', 'Slower, please.', { retryAfterSeconds: 17 });
    expect(half.protocol.renderError(error, 'req_7').headers).toMatchObject({ 'retry-after': '17' });
  },
});

const BROKEN = new AppError('upstream_error', 'The upstream broke.');

const failures = (half: ClientHalf): Check[] => [
  {
    name: 'ends a stream as failed wherever it breaks (case 98)',
    run() {
      const events = [...eventsOf(responseSaying(EVERYTHING))];
      for (let count = 0; count < events.length - 1; count += 1) {
        const renderer = half.protocol.renderStream(contextOf(half, bodyOf(half, HELLO, true)));
        const before = events.slice(0, count).map((event) => renderer.next(event));
        const ending = renderer.fail(BROKEN);
        half.client.expectFailure(readEvents(before.join('')), readEvents(ending));
        expect(ending).toContain('The upstream broke.');
      }
    },
  },
];

const EVERYTHING: ResponseOptions = { reasoning: 'Let me see.', text: 'Hé 😀', ...CALLING_TWICE };

/** The end of verbatim streams. */
const behindTail = (half: ClientHalf): Check => ({
  name: 'renders an error after a stream of which only the first and last event are known',
  run() {
    const body = bodyOf(half, HELLO, true);
    const text = written(half, [...eventsOf(responseSaying({ text: 'Hello' }))].slice(0, 3), body).join('');
    const sent = new SseSplitter().next(Buffer.from(text));
    const { call } = contextOf(half, body);
    for (const tail of [{}, { first: sent[0], last: sent.at(-1) }]) {
      const ending = Buffer.from(half.protocol.renderStreamError(call, BROKEN, tail)).toString();
      half.client.expectFailure(tail.first === undefined ? [] : readEvents(text), readEvents(ending));
      expect(ending).toContain(`The upstream broke. (request id: ${call.id})`);
    }
  },
});
