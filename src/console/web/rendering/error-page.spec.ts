import { AppError, type ErrorKind } from '../../../platform/shared/index.js';
import { errorPage } from './error-page.js';

const NOW = new Date('2026-11-20T13:36:02Z');
const show = (error: AppError, status: number, method = 'GET', url = '/keys?x=1') =>
  errorPage(error, status, { id: 'req_1', method, url }, NOW).options;
const told = (kind: ErrorKind, message: string, status: number, method?: string) =>
  show(new AppError(kind, message), status, method);

describe('error pages', () => {
  it('say of what is not there, and of what one may not see, the same', () => {
    const [one, other] = [told('not_found', 'No key key_1.', 404), told('not_found', 'No call.', 404)];
    expect(one).toEqual(other);
    expect(JSON.stringify(one)).not.toContain('key_1');
  });

  it('keep the message of what was not foreseen for the log', () => {
    const error = new AppError('internal', 'Cannot read properties of undefined (reading secret)');
    const options = show(error, 500);
    expect(JSON.stringify(options)).not.toMatch(/Cannot read|secret/);
    expect(options).toMatchObject({ status: 500, data: { reference: 'req_1', errorClass: '500, internal' } });
  });

  it('say what is not affected, and offer to try again', () => {
    expect(told('unavailable', 'The database does not answer.', 503).data).toMatchObject({
      paragraphs: ['The database does not answer.', 'Only this page is affected. API calls are not.'],
      retry: '/keys?x=1',
    });
  });

  it('offer no link to what was sent by a form', () => {
    expect(told('unavailable', 'The database does not answer.', 503, 'POST').data).toMatchObject({ retry: undefined });
  });

  it('offer no link to another site, however an address of ours is written', () => {
    for (const url of ['//elsewhere.example/', '/\\\\elsewhere.example/', 'https://elsewhere.example/'])
      expect(show(new AppError('unavailable', 'No.'), 503, 'GET', url).data).toMatchObject({ retry: '/' });
  });

  it.each([
    [1, 'Try again in one second.'],
    [45, 'Try again in 45 seconds.'],
    [601, 'Try again in 11 minutes.'],
  ])('say when to come again: %s s', (retryAfterSeconds, sentence) => {
    const error = new AppError('rate_limit_exceeded', 'Too many tries.', { retryAfterSeconds });
    expect(show(error, 429).data).toMatchObject({ paragraphs: ['Too many tries.', sentence] });
  });
});
