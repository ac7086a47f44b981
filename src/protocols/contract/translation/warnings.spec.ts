import { refusalOf } from '../../../../test/support/calls.js';
import { TranslationWarnings } from './warnings.js';

describe('translation warnings', () => {
  it('are listed once in a safe header', () => {
    const warnings = new TranslationWarnings(false);
    expect(warnings.header).toBeUndefined();
    warnings.warn('unsupported_tool', 'tools[2]');
    warnings.warn('unsupported_tool', 'tools[2]');
    warnings.warn('clamped', 'a,b ☃');
    expect(warnings.header).toBe('unsupported_tool:tools[2],clamped:a_b__');
  });

  it("are truncated to the header's length", () => {
    const warnings = new TranslationWarnings(false);
    for (let index = 0; index < 200; index += 1) warnings.warn('unsupported_tool', `tools[${index}]`);
    expect(warnings.header?.length).toBeLessThanOrEqual(1024);
    expect(warnings.header?.endsWith(']')).toBe(true);
  });

  it('are separate for each attempt', () => {
    const warnings = new TranslationWarnings(false);
    warnings.warn('clamped', 'x');
    const attempt = warnings.fork();
    attempt.warn('prefill', 'y');
    expect([warnings.header, attempt.header]).toEqual(['clamped:x', 'clamped:x,prefill:y']);
  });

  it('are rejected for a strict key, naming the member (case 119)', () => {
    const { kind, details } = refusalOf(() =>
      new TranslationWarnings(true).fork().warn('unsupported_tool', 'tools[2]'),
    );
    expect([kind, details.param, details.fault]).toEqual(['invalid_request', 'tools[2]', 'unsupported_parameter']);
  });

  it('of a response are never rejected and follow those of the request', () => {
    const request = new TranslationWarnings(false);
    request.warn('clamped', 'x');
    const response = request.forResponse();
    response.warn('paused', 'status');
    expect([request.header, response.header]).toEqual(['clamped:x', 'clamped:x,paused:status']);
    expect(() => new TranslationWarnings(true).forResponse().warn('paused', 'status')).not.toThrow();
  });
});
