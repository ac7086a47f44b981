import { Controller, Delete, Get, Header, Post, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { parseJsonTree, writeJson, type JsonTree } from '../../call/index.js';
import { ApiKeyGuard } from '../../keys/index.js';
import { KeptAnswers, requestLineOf } from '../../relay/index.js';
import { AppError } from '../../shared/index.js';
import { RESPONSES_PATH } from './responses.protocol.js';
import { inputItems } from './responses.stored.list.js';

const JSON_TYPE = ['content-type', 'application/json; charset=utf-8'] as const;
const INPUT_ITEMS = 'input_items';
const CANCEL = 'cancel';

/** Responses that were kept: here when another dialect's upstream made them, else by the channel that did. */
@Controller(RESPONSES_PATH)
@UseGuards(ApiKeyGuard)
export class StoredResponsesController {
  constructor(private readonly kept: KeptAnswers) {}

  /** A wildcard, as all that follow: an id may be of any length. */
  @Get('*')
  @Header(...JSON_TYPE)
  async read(@Req() request: FastifyRequest): Promise<string> {
    const { id, rest, query } = addressIn(request);
    if (rest === INPUT_ITEMS) return this.inputOf(request, id, query);
    if (rest !== '') throw nothingAt(request);
    if (query.get('stream') === 'true') throw noStream();
    const answer = await this.kept.find(request, id);
    return answer.content?.response ?? this.kept.ask(answer, { method: 'GET', path: pathOf(id), query: String(query) });
  }

  @Delete('*')
  @Header(...JSON_TYPE)
  async delete(@Req() request: FastifyRequest): Promise<string> {
    const { id, rest } = addressIn(request);
    if (rest !== '') throw nothingAt(request);
    const answer = await this.kept.find(request, id);
    if (answer.content === undefined) await this.kept.ask(answer, { method: 'DELETE', path: pathOf(id) });
    await this.kept.delete(request, answer);
    return JSON.stringify({ id, object: 'response', deleted: true });
  }

  @Post('*')
  async cancel(@Req() request: FastifyRequest): Promise<never> {
    const { id, rest } = addressIn(request);
    if (rest !== CANCEL) throw nothingAt(request);
    await this.kept.find(request, id);
    throw new AppError(
      'invalid_request',
      'This response is complete: only background responses can be cancelled, and none are made here.',
    );
  }

  private async inputOf(request: FastifyRequest, id: string, query: URLSearchParams): Promise<string> {
    const answer = await this.kept.find(request, id);
    if (answer.content === undefined)
      return this.kept.ask(answer, { method: 'GET', path: `${pathOf(id)}/${INPUT_ITEMS}`, query: String(query) });
    const input = parseJsonTree(answer.content.input, new Set()) as readonly JsonTree[];
    return writeJson(inputItems(id, input, query));
  }
}

interface Address {
  readonly id: string;
  /** Behind the id. */
  readonly rest: string;
  readonly query: URLSearchParams;
}

function addressIn(request: FastifyRequest): Address {
  const { path, query } = requestLineOf(request);
  const [id = '', ...rest] = path.slice(RESPONSES_PATH.length + 1).split('/');
  return { id: decodeURIComponent(id), rest: rest.join('/'), query: new URLSearchParams(query) };
}

const pathOf = (id: string): string => `/responses/${encodeURIComponent(id)}`;

const nothingAt = (request: FastifyRequest): AppError => {
  const { method, path } = requestLineOf(request);
  return new AppError('not_found', `There is nothing at ${method} ${path}.`);
};

const noStream = (): AppError =>
  new AppError('invalid_request', 'A response that is kept is not streamed again; leave stream out.', {
    param: 'stream',
    fault: 'unsupported_parameter',
  });
