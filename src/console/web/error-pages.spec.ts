import { AppError, type ErrorKind } from '../../platform/shared/index.js';
import { errorPage } from './error-pages.js';

const NOW = new Date('2026-11-20T13:36:02Z');
const show = (error: AppError, status: number, method = 'GET', url = '/keys?x=1') =>
  errorPage(error, status, { id: 'req_1', method, url }, NOW).options;
const pageFor = (kind: ErrorKind, message: string, status: number, method?: string) =>
  show(new AppError(kind, message), status, method);

describe('error pages', () => {
  it('do not reveal whether a hidden page exists', () => {
    const [one, other] = [pageFor('not_found', 'No key key_1.', 404), pageFor('not_found', 'No call.', 404)];
    expect(one).toEqual(other);
    expect(JSON.stringify(one)).not.toContain('key_1');
  });

  it('hide the message of an internal error', () => {
    const error = new AppError('internal', 'Cannot read properties of undefined (reading secret)');
    const options = show(error, 500);
    expect(JSON.stringify(options)).not.toMatch(/Cannot read|secret/);
    expect(options).toMatchObject({ status: 500, data: { reference: 'req_1', errorClass: '500, internal' } });
  });

  it('say that API calls are not affected, and offer a retry', () => {
    expect(pageFor('unavailable', 'The database is not responding.', 503).data).toMatchObject({
      paragraphs: ['The database is not responding.', 'API calls are not affected.'],
      retry: '/keys?x=1',
    });
  });

  it('offer no retry link when the request was a POST', () => {
    expect(pageFor('unavailable', 'The database is not responding.', 503, 'POST').data).toMatchObject({
      retry: undefined,
    });
  });

  it('offer no retry link to another site', () => {
    for (const url of ['//elsewhere.example/', '/\\\\elsewhere.example/', 'https://elsewhere.example/'])
      expect(show(new AppError('unavailable', 'No.'), 503, 'GET', url).data).toMatchObject({ retry: '/' });
  });

  it.each([
    [1, 'Try again in 1 second.'],
    [45, 'Try again in 45 seconds.'],
    [601, 'Try again in 11 minutes.'],
  ])('say when to retry: %s s', (retryAfterSeconds, sentence) => {
    const error = new AppError('rate_limit_exceeded', 'Too many attempts.', { retryAfterSeconds });
    expect(show(error, 429).data).toMatchObject({ paragraphs: ['Too many attempts.', sentence] });
  });
});
