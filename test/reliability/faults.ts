/** What an upstream can do wrong, and what must become of a call that meets it: the rows of the fault matrix, as data. */

import {
  INVALID_REQUEST,
  OVERLOADED,
  RATE_LIMITED,
  type Situation,
  TIMEOUT,
  TOO_LARGE,
  TRUNCATED,
  UPSTREAM_AUTH,
  UPSTREAM_ERROR,
} from '../support/api-errors.js';
import {
  end,
  errorResponse,
  errorEvents,
  hang,
  jsonAnswer,
  type JsonObject,
  type Script,
  sse,
} from '../support/scripted-upstream.js';
import {
  RESPONSE,
  responseOf,
  begun,
  bytewise,
  garbled,
  large,
  opened,
  prelude,
  reset,
  rest,
  type Scene,
} from './fault-scripts.js';

export interface Failure {
  readonly situation: Situation;
  /** No other channel is asked: the request itself is at fault. */
  readonly isFinal?: true;
  readonly retryAfter?: string;
}

export interface EntryError {
  readonly name: string;
  /** What the first channel does. */
  readonly play: (scene: Scene) => Script;
  /** `hasty`: channels with little patience; `dead`: where nobody listens. */
  readonly channels?: 'hasty' | 'dead';
  /** Only of upstreams that are asked for a stream. */
  readonly onlyStreams?: true;
  /** What is noted of the attempt; null when there was no head. */
  readonly status: number | null;
  /** Content has been sent before: a client that has asked for a stream has seen it. */
  readonly isBegun?: true;
  /** Undefined when there is no fault in it for that upstream: then the response is `says`. */
  readonly failure: (scene: Scene) => Failure | undefined;
  readonly says?: string;
}

type Row = Omit<EntryError, 'name' | 'failure'>;

const fault = (name: string, situation: Situation, row: Row): EntryError => ({
  name,
  failure: () => ({ situation }),
  ...row,
});

/** A stream that stops short is known to be cut; JSON that does is merely unusable. */
const cut = (name: string, row: Row): EntryError => ({
  name,
  failure: ({ streamed }) => ({ situation: streamed ? TRUNCATED : UPSTREAM_ERROR }),
  ...row,
});

/** Chat Completions' servers write lines that are no JSON now and then; with the others none may be missed. */
const unreadable = (name: string, row: Row): EntryError => ({
  name,
  failure: ({ protocol, streamed }) =>
    streamed && protocol === 'chat-completions' ? undefined : { situation: UPSTREAM_ERROR },
  ...row,
});

const harmless = (name: string, row: Row): EntryError => ({ name, failure: () => undefined, ...row });

interface Refusal extends Omit<Failure, 'situation'> {
  readonly about?: string;
  readonly error?: JsonObject;
  /** As the upstream sends it. */
  readonly after?: string;
}

const status = (
  code: number,
  situation: Situation,
  { about = '', error, after, ...failure }: Refusal = {},
): EntryError => ({
  name: `status ${code}${about}${after === undefined ? '' : ` with Retry-After: ${after}`}`,
  status: code,
  play: ({ protocol }) =>
    errorResponse(protocol, code, error && { error }, after === undefined ? {} : { 'retry-after': after }),
  failure: () => ({ situation, ...failure }),
});

const CONNECTION: readonly EntryError[] = [
  fault('a connection that is refused', UPSTREAM_ERROR, { channels: 'dead', status: null, play: () => end() }),
  fault('a reset before the headers', UPSTREAM_ERROR, { status: null, play: () => reset() }),
  fault('a reset behind the headers', UPSTREAM_ERROR, { status: 200, play: (scene) => [opened(scene), reset()] }),
  fault('a reset in the middle', UPSTREAM_ERROR, {
    isBegun: true,
    status: 200,
    play: (scene) => [begun(scene), reset()],
  }),
  fault('a connection that closes in the middle', UPSTREAM_ERROR, {
    isBegun: true,
    status: 200,
    play: (scene) => [begun(scene), reset('close')],
  }),
];

const PATIENCE: readonly EntryError[] = [
  fault('headers that do not come', TIMEOUT, { channels: 'hasty', status: null, play: () => hang() }),
  fault('a stall behind the headers', TIMEOUT, {
    channels: 'hasty',
    status: 200,
    play: (scene) => [opened(scene), hang()],
  }),
  fault('a stall behind the prelude', TIMEOUT, {
    channels: 'hasty',
    onlyStreams: true,
    status: 200,
    play: (scene) => [opened(scene), prelude(scene), hang()],
  }),
  fault('a stall in the middle', TIMEOUT, {
    channels: 'hasty',
    isBegun: true,
    status: 200,
    play: (scene) => [begun(scene), hang()],
  }),
];

const RESPONSES: readonly EntryError[] = [
  cut('an end behind the headers', { status: 200, play: (scene) => [opened(scene), end()] }),
  cut('an end behind the prelude', {
    onlyStreams: true,
    status: 200,
    play: (scene) => [opened(scene), prelude(scene), end()],
  }),
  cut('an end without a terminator', { isBegun: true, status: 200, play: (scene) => [begun(scene), end()] }),
  fault('an error instead of an answer', UPSTREAM_ERROR, {
    status: 200,
    play: (scene) =>
      scene.streamed
        ? [opened(scene), sse(errorEvents(scene.protocol)), end()]
        : jsonAnswer(200, { error: { type: 'server_error', message: 'Boom.' } }),
  }),
  fault('an error behind the prelude', UPSTREAM_ERROR, {
    onlyStreams: true,
    status: 200,
    play: (scene) => [opened(scene), prelude(scene), sse(errorEvents(scene.protocol)), end()],
  }),
  fault('an error in the middle', UPSTREAM_ERROR, {
    isBegun: true,
    onlyStreams: true,
    status: 200,
    play: (scene) => [begun(scene), sse(errorEvents(scene.protocol)), end()],
  }),
  unreadable('a malformed event in front', {
    status: 200,
    play: (scene) => [opened(scene), garbled(), prelude(scene), rest(scene, 'prelude'), end()],
  }),
  unreadable('a malformed event in the middle', {
    isBegun: true,
    status: 200,
    play: (scene) => [begun(scene), garbled(), rest(scene, 'begun'), end()],
  }),
];

const REFUSALS: readonly EntryError[] = [
  status(400, INVALID_REQUEST, { isFinal: true }),
  status(401, UPSTREAM_AUTH),
  status(402, OVERLOADED),
  status(403, UPSTREAM_AUTH),
  status(404, UPSTREAM_ERROR, { about: ' of a path', error: { message: 'Not Found' } }),
  status(404, UPSTREAM_ERROR, { about: ' of a model', error: { code: 'model_not_found', message: 'No.' } }),
  status(404, INVALID_REQUEST, {
    about: ' of what was asked for',
    error: { message: 'No tool output found.' },
    isFinal: true,
  }),
  status(408, TIMEOUT),
  status(409, UPSTREAM_ERROR),
  status(413, TOO_LARGE, { isFinal: true }),
  status(422, INVALID_REQUEST, { isFinal: true }),
  status(429, RATE_LIMITED),
  status(429, RATE_LIMITED, { after: '7', retryAfter: '7' }),
  status(429, RATE_LIMITED, { after: '3600', retryAfter: '60' }),
  status(500, UPSTREAM_ERROR),
  status(502, UPSTREAM_ERROR),
  status(503, OVERLOADED),
  status(503, OVERLOADED, { after: '7', retryAfter: '7' }),
  status(504, TIMEOUT),
  status(529, OVERLOADED),
  status(529, OVERLOADED, { after: '7', retryAfter: '7' }),
];

/** No faults, but responses that are easily taken for some. */
const ODDITIES: readonly EntryError[] = [
  harmless('nothing that is wrong', { status: 200, play: responseOf(RESPONSE) }),
  harmless('an event of 2 MB', { status: 200, play: responseOf(large), says: large }),
  harmless('one byte at a time', { status: 200, play: bytewise, says: 'Alpha' }),
];

export const FAULTS: readonly EntryError[] = [...CONNECTION, ...PATIENCE, ...RESPONSES, ...REFUSALS, ...ODDITIES];
