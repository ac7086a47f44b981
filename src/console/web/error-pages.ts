import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type AppError, Clock, maskKeys } from '../../platform/shared/index.js';
import { type KnownVisit, visitOf } from './current-visit.js';
import { PageWriter } from './page-writer.js';
import { type StepRequired, localPath, Page, Redirect } from './page.js';

@Injectable()
export class ErrorPages {
  constructor(
    private readonly writer: PageWriter,
    private readonly clock: Clock,
  ) {}

  async respond(error: AppError, status: number, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const page = errorPage(error, status, request, this.clock.date());
    await reply.send(await this.inLayout(page, request, reply));
  }

  private async inLayout(page: Page, request: FastifyRequest, reply: FastifyReply): Promise<string> {
    try {
      return await this.writer.page(page, visitOf(request) ?? unknownVisit(request), reply);
    } catch {
      // Loading the layout data most likely fails for the same reason as the page: the database.
      return this.writer.page(page, unknownVisit(request), reply);
    }
  }

  async redirect({ to }: StepRequired, reply: FastifyReply): Promise<void> {
    await reply.send(this.writer.redirect(new Redirect(to), reply));
  }
}

/** Without a page guard, the visit is unknown. */
const unknownVisit = ({ id, ip, url }: FastifyRequest): KnownVisit => ({
  visit: { visitor: undefined, csrf: '', theme: undefined, ip, userAgent: '', host: '', requestId: id, url },
  flash: undefined,
});

interface FailedRequest {
  readonly id: string;
  readonly method: string;
  readonly url: string;
}

/** Never shows a stack trace, or the message of an internal error. */
export function errorPage(error: AppError, status: number, request: FailedRequest, now: Date): Page {
  const text = errorText(error, status);
  const data = {
    ...text,
    now,
    errorClass: `${status}, ${error.kind.replaceAll('_', ' ')}`,
    reference: request.id,
    // A link cannot repeat a POST, and must not contain an API key.
    retry:
      text.retry && request.method === 'GET' && maskKeys(request.url) === request.url
        ? localPath(request.url)
        : undefined,
  };
  return new Page('errors/error', { title: text.heading, layout: 'auth', width: 'wide', status, data });
}

interface ErrorText {
  readonly heading: string;
  readonly paragraphs: readonly string[];
  /** Whether a retry may succeed. */
  readonly retry: boolean;
}

const NOT_AFFECTED = 'API calls are not affected.';

/** Shows the error's own message, except for internal errors. */
function errorText(error: AppError, status: number): ErrorText {
  if (status === 404) return NOT_FOUND;
  if (status === 429) return tooMany(error);
  if (status >= 500) return serverError(error);
  return {
    heading: status === 403 ? 'Access denied' : 'Request failed',
    paragraphs: [error.message],
    retry: false,
  };
}

/** Identical for missing pages and pages the user may not see. */
const NOT_FOUND: ErrorText = {
  heading: 'Page not found',
  paragraphs: ['The address may be wrong, or the page may have been deleted.'],
  retry: false,
};

function tooMany(error: AppError): ErrorText {
  const seconds = error.details.retryAfterSeconds;
  return {
    heading: 'Too many requests',
    paragraphs: seconds === undefined ? [error.message] : [error.message, `Try again in ${duration(seconds)}.`],
    retry: true,
  };
}

function serverError(error: AppError): ErrorText {
  const known = error.kind !== 'internal';
  return {
    heading: known ? 'Could not load this page' : 'Internal error',
    paragraphs: [known ? error.message : 'The error was logged with the reference below.', NOT_AFFECTED],
    retry: true,
  };
}

function duration(seconds: number): string {
  if (seconds < 90) return seconds === 1 ? '1 second' : `${seconds} seconds`;
  return `${Math.ceil(seconds / 60)} minutes`;
}
