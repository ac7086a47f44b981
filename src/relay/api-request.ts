import type { FastifyRequest } from 'fastify';

/** Whether a request comes from a program that looks for the API, and not from a person who looks for a page. */
export function isApiRequest(request: FastifyRequest): boolean {
  if (/^\/v1(?:[/?]|$)/.test(request.url)) return true;
  return !['GET', 'HEAD'].includes(request.method) && !isForm(request);
}

const isForm = ({ headers }: FastifyRequest): boolean =>
  headers['sec-fetch-mode'] === 'navigate' || headers['content-type']?.startsWith('multipart/form-data') === true;
