import { Injectable } from '@nestjs/common';
import {
  commonEdits,
  countIn,
  headerOf,
  KEEP_ALIVE_COMMENT,
  type ProtocolAdapter,
  type RenderContext,
  renderListedModel,
  renderModelPage,
  renderOpenAiError,
  renderOpenAiLimits,
  type RequestLine,
  type SocketProtocol,
  SplicedBody,
  type StreamRenderer,
  type TextPlaces,
  type TokenCountEndpoint,
  upstreamHeaders,
} from '../contract/index.js';
import { Protocol } from '../decorators/index.js';
import { BETA, COMPACT_PATH, VERBATIM_HEADERS, RESPONSES, responsesHeadReader } from './head.js';
import { renderFailure } from './response-object.js';
import { renderWhole, ResponsesRenderer } from './renderer.js';
import { parseRequest, RAW_MEMBERS } from './request.js';
import { ResponsesSession } from './socket-session.js';
import { RESPONSES_STORAGE } from './stored.js';
import { readCompaction } from './verbatim.js';

export const RESPONSES_PATH = '/v1/responses';

/** Headers of the handshake; and the key that a repeated request would have, which cannot be that of every call. */
const NOT_OF_CALLS: ReadonlySet<string> = new Set(['connection', 'upgrade', 'idempotency-key']);
const SOCKET_BETA = /^responses_websockets=/;

/** The vendor's WebSocket mode. */
const RESPONSES_SOCKET: SocketProtocol = {
  path: RESPONSES_PATH,
  open: () => new ResponsesSession(),
  lineOf: (handshake) => ({ ...handshake, method: 'POST', query: '', headers: headersOfCalls(handshake) }),
};

function headersOfCalls(handshake: RequestLine): RequestLine['headers'] {
  const isOfCalls = ([name]: [string, unknown]): boolean =>
    !NOT_OF_CALLS.has(name) && !name.startsWith('sec-websocket-') && name !== BETA;
  const betas = (headerOf(handshake, BETA) ?? '').split(',').map((beta) => beta.trim());
  const others = betas.filter((beta) => beta !== '' && !SOCKET_BETA.test(beta)).join(', ');
  return {
    ...Object.fromEntries(Object.entries(handshake.headers).filter(isOfCalls)),
    ...(others !== '' && { [BETA]: others }),
  };
}

/** The client half of OpenAI's Responses. */
@Injectable()
@Protocol()
export class ResponsesProtocol implements ProtocolAdapter {
  readonly id = RESPONSES;
  readonly callPaths = [RESPONSES_PATH, COMPACT_PATH] as const;
  readonly tokenCounting = RESPONSES_TOKEN_COUNT;
  readonly fingerprintHeaders = VERBATIM_HEADERS;
  readonly rawMembers = RAW_MEMBERS;
  readonly textPlaces = RESPONSES_TEXTS;
  readonly storage = RESPONSES_STORAGE;
  readonly socket = RESPONSES_SOCKET;
  readonly headReader = responsesHeadReader;
  readonly parseRequest = parseRequest;
  readonly renderResponse = renderWhole;
  readonly renderError = renderOpenAiError;
  readonly renderLimits = renderOpenAiLimits;
  readonly renderStreamError = renderFailure;
  readonly renderModels = renderModelPage;
  readonly renderModel = renderListedModel;

  claims(request: RequestLine): boolean {
    return /^\/v1\/responses(?:\/|$)/.test(request.path);
  }

  renderStream(context: RenderContext): StreamRenderer {
    return new ResponsesRenderer(context);
  }

  /** A comment: an event would need a sequence number. */
  keepAlive(): Uint8Array {
    return KEEP_ALIVE_COMMENT;
  }
}

/** Same body as a call; the response is `{"object":"response.input_tokens","input_tokens":N}`. */
const RESPONSES_TOKEN_COUNT: TokenCountEndpoint = {
  protocol: RESPONSES,
  path: '/v1/responses/input_tokens',
  headReader: responsesHeadReader,
  requestFor: (call, model) => ({
    path: '/responses/input_tokens',
    query: '',
    headers: upstreamHeaders(call, ...VERBATIM_HEADERS),
    body: new SplicedBody(call.body, commonEdits(call, { model }, readCompaction)),
  }),
  hasCount: (body) => countIn(body, 'input_tokens') !== undefined,
  render: (tokens) => ({ object: 'response.input_tokens', input_tokens: tokens }),
};

const TEXTS = ['text', 'refusal', 'name', 'arguments', 'input', 'code'];

const RESPONSES_TEXTS: TextPlaces = {
  prompt: {
    conversation: ['instructions', 'input'],
    definitions: ['tools', 'text'],
    ignored: [
      'role',
      'type',
      'id',
      'call_id',
      'status',
      'image_url',
      'detail',
      'file_id',
      'file_url',
      'encrypted_content',
    ],
    whole: [],
  },
  response: { within: ['output'], texts: TEXTS },
};
