import { Injectable } from '@nestjs/common';
import type { LimitStatus, LimitStatuses } from '../../platform/limits/index.js';
import type { AppError, JsonObject } from '../../platform/shared/index.js';
import {
  type Call,
  commonEdits,
  countIn,
  headReader,
  KEEP_ALIVE_COMMENT,
  type ListedModel,
  type ProtocolAdapter,
  type RenderContext,
  renderListedModel,
  renderModelPage,
  renderSse,
  type RequestLine,
  SplicedBody,
  type StreamRenderer,
  type TextPlaces,
  type TokenCountEndpoint,
} from '../contract/index.js';
import { Protocol } from '../decorators/index.js';
import { renderMessagesError, renderMessagesErrorEvent } from './errors.js';
import { VERSION_HEADERS, versionHeaderOf } from './flags.js';
import { VERBATIM_HEADERS, INTERESTS, MEMBERS, MESSAGES, messagesHeadReader, requestContext } from './head.js';
import { MessagesRenderer, renderMessagesResponse } from './renderer.js';
import { parseMessagesRequest, RAW_MEMBERS } from './request.js';
import { MESSAGES_STORAGE } from './threads.js';
import { readCompaction } from './verbatim.js';

const PING = renderSse('ping', '{"type":"ping"}');
const DEFAULT_PAGE_MODELS = 20;

const MESSAGES_PATH = '/v1/messages';

/** The client half of Anthropic's Messages. */
@Injectable()
@Protocol()
export class MessagesProtocol implements ProtocolAdapter {
  readonly id = MESSAGES;
  readonly callPaths = [MESSAGES_PATH] as const;
  readonly tokenCounting = MESSAGES_TOKEN_COUNT;
  readonly rawMembers = RAW_MEMBERS;
  readonly textPlaces = MESSAGES_TEXTS;
  readonly storage = MESSAGES_STORAGE;
  readonly startsWithPromptTokens = true;
  readonly fingerprintHeaders = [...VERBATIM_HEADERS, ...VERSION_HEADERS];
  readonly headReader = messagesHeadReader;
  readonly parseRequest = parseMessagesRequest;
  readonly renderResponse = renderMessagesResponse;
  readonly renderError = renderMessagesError;
  readonly renderLimits = renderMessagesLimits;
  readonly renderModel = renderListedModel;

  /** Its clients always send a version header, also on shared paths. */
  claims(request: RequestLine): boolean {
    if (/^\/v1\/messages(?:\/|$)/.test(request.path)) return true;
    return /^\/v1(?:\/|$)/.test(request.path) && versionHeaderOf(request) !== undefined;
  }

  renderStream(context: RenderContext): StreamRenderer {
    return new MessagesRenderer(context);
  }

  renderStreamError(call: Call, error: AppError): Uint8Array {
    return Buffer.from(renderMessagesErrorEvent(error, call.id));
  }

  /** No event may precede `message_start`. */
  keepAlive(begun: boolean): Uint8Array {
    return begun ? PING : KEEP_ALIVE_COMMENT;
  }

  renderModels(models: readonly ListedModel[], request: RequestLine): JsonObject {
    return renderModelPage(models, request, DEFAULT_PAGE_MODELS);
  }
}

/** Same body as a call, without `max_tokens`; the response is `{"input_tokens":N}`. */
const MESSAGES_TOKEN_COUNT: TokenCountEndpoint = {
  protocol: MESSAGES,
  path: '/v1/messages/count_tokens',
  headReader: (request) =>
    headReader(INTERESTS, (fields) => {
      const model = fields.requireString('model', { maxLength: 256 });
      fields.requireKind('messages', 'array');
      const { size } = fields;
      const demands = MEMBERS.demandsIn(fields, request);
      return { model, stream: false, outputLimit: undefined, choices: 1, effort: undefined, demands, size, fields };
    }),
  requestFor: (call, model) => ({
    path: '/messages/count_tokens',
    ...requestContext(call),
    body: new SplicedBody(call.body, commonEdits(call, { model }, readCompaction)),
  }),
  hasCount: (body) => countIn(body, 'input_tokens') !== undefined,
  render: (tokens) => ({ input_tokens: tokens }),
};

export const renderMessagesLimits = ({ requests, tokens }: LimitStatuses): Record<string, string> => ({
  ...headersOf('requests', requests),
  ...headersOf('tokens', tokens),
});

function headersOf(what: string, status: LimitStatus | undefined): Record<string, string> {
  if (status === undefined) return {};
  return {
    [`anthropic-ratelimit-${what}-limit`]: String(status.limit),
    [`anthropic-ratelimit-${what}-remaining`]: String(status.remaining),
    // Whole seconds, rounded up.
    [`anthropic-ratelimit-${what}-reset`]: new Date(Math.ceil(status.resetsAt / 1000) * 1000)
      .toISOString()
      .replace('.000Z', 'Z'),
  };
}

const TEXTS = ['text', 'thinking', 'name', 'input', 'partial_json'];

const MESSAGES_TEXTS: TextPlaces = {
  prompt: {
    conversation: ['system', 'messages'],
    definitions: ['tools'],
    ignored: ['role', 'type', 'id', 'tool_use_id', 'media_type', 'url', 'file_id', 'signature', 'cache_control'],
    whole: ['input'],
  },
  response: { within: ['content'], texts: TEXTS },
};
