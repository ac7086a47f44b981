import { Controller, Delete, Get, Header, Param, Post, Query, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { parseJsonTree, writeJson, type JsonTree } from '../protocols/contract/index.js';
import { ApiKeyGuard } from '../keys/index.js';
import { AppError } from '../platform/shared/index.js';
import { inputItems, RESPONSES_PATH } from '../protocols/responses/index.js';
import { ResponseLookup } from './response-lookup.js';
import { requestLineOf } from './request-facts.js';

/** Excludes `input_tokens`, which is an endpoint. */
const RESPONSE_PATH = `${RESPONSES_PATH}/:id(^(?!input_tokens$).+$)`;
const JSON_TYPE = ['content-type', 'application/json; charset=utf-8'] as const;

/** Stored responses: here if an upstream of another protocol made them, else at the channel. */
@Controller(RESPONSE_PATH)
@UseGuards(ApiKeyGuard)
export class StoredResponsesController {
  constructor(private readonly responses: ResponseLookup) {}

  @Get()
  @Header(...JSON_TYPE)
  async read(
    @Req() request: FastifyRequest,
    @Param('id') id: string,
    @Query('stream') stream?: unknown,
  ): Promise<string> {
    if (stream === 'true') throw noStream();
    const response = await this.responses.find(request, id);
    return (
      response.content?.response ??
      this.responses.query(response, { method: 'GET', path: pathOf(id), query: queryOf(request) })
    );
  }

  @Get('input_items')
  @Header(...JSON_TYPE)
  async listInput(@Req() request: FastifyRequest, @Param('id') id: string): Promise<string> {
    const response = await this.responses.find(request, id);
    const query = queryOf(request);
    if (response.content === undefined)
      return this.responses.query(response, { method: 'GET', path: `${pathOf(id)}/input_items`, query });
    const input = parseJsonTree(response.content.input, new Set()) as readonly JsonTree[];
    return writeJson(inputItems(id, input, new URLSearchParams(query)));
  }

  @Delete()
  @Header(...JSON_TYPE)
  async delete(@Req() request: FastifyRequest, @Param('id') id: string): Promise<string> {
    const response = await this.responses.find(request, id);
    if (response.content === undefined) await this.responses.query(response, { method: 'DELETE', path: pathOf(id) });
    await this.responses.delete(request, response);
    return JSON.stringify({ id, object: 'response', deleted: true });
  }

  @Post('cancel')
  async cancel(@Req() request: FastifyRequest, @Param('id') id: string): Promise<never> {
    await this.responses.find(request, id);
    throw new AppError('invalid_request', 'Only background responses can be cancelled; this response is complete.');
  }
}

const pathOf = (id: string): string => `/responses/${encodeURIComponent(id)}`;

const queryOf = (request: FastifyRequest): string => requestLineOf(request).query;

const noStream = (): AppError =>
  new AppError('invalid_request', 'Stored responses cannot be streamed. Remove stream.', {
    param: 'stream',
    fault: 'unsupported_parameter',
  });
