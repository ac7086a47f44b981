import { matchesCallPath, modelInPath, pathForModel, routeOf } from './call-paths.js';

const CALL = '/v1beta/models/{model}:generateContent';
const STREAM = '/v1beta/models/{model}:streamGenerateContent';

describe('call paths with a model', () => {
  it.each([
    ['/v1beta/models/m:generateContent', 'm'],
    ['/v1beta/models/vendor%2Fm:generateContent', 'vendor/m'],
    ['/v1beta/models/llama%3A8b:generateContent', 'llama:8b'],
    ['/v1beta/models/m:streamGenerateContent', 'm'],
    ['/v1beta/models/m:countTokens', undefined],
    ['/v1beta/models/:generateContent', undefined],
    ['/v1beta/models/vendor/m:generateContent', undefined],
    ['/v1beta/models/%ff:generateContent', undefined],
    ['/v1beta/models', undefined],
  ])('name the model of %s: %s', (path, model) => {
    expect(modelInPath([CALL, STREAM], path)).toBe(model);
  });

  it('lead back to the model', () => {
    for (const model of ['m', 'vendor/m', 'llama:8b', '$&'])
      expect(modelInPath([CALL], pathForModel(CALL, model))).toBe(model);
  });

  it('match like others', () => {
    expect(matchesCallPath(CALL, '/v1beta/models/m:generateContent')).toBe(true);
    expect(matchesCallPath(CALL, '/v1beta/models/m:streamGenerateContent')).toBe(false);
    expect(matchesCallPath('/v1/messages', '/v1/messages')).toBe(true);
    expect(matchesCallPath('/v1/messages', '/v1/messages/x')).toBe(false);
  });

  it('are routes with a parameter', () => {
    expect(routeOf(CALL)).toBe('/v1beta/models/:model(.+)::generateContent');
    expect(routeOf('/v1/messages')).toBe('/v1/messages');
  });
});
