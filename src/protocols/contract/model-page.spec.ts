import { aRequestLine, listedModels, refusalOf } from '../../../test/support/calls.js';
import { renderModelPage } from './model-page.js';

const models = listedModels(30);

const ids = (query: string, defaultLimit = 20): [first: unknown, last: unknown, more: unknown] => {
  const page = renderModelPage(models, aRequestLine({ query }), defaultLimit);
  return [page['first_id'], page['last_id'], page['has_more']];
};

describe('model pages (case 110)', () => {
  it.each<[string, ReturnType<typeof ids>]>([
    ['', ['m/0', 'm/19', true]],
    ['limit=1000', ['m/0', 'm/29', false]],
    ['limit=5&after_id=m%2F4', ['m/5', 'm/9', true]],
    ['limit=5&after_id=m/24', ['m/25', 'm/29', false]],
    ['after_id=m/29', [null, null, false]],
    ['limit=5&before_id=m/10', ['m/5', 'm/9', true]],
    ['limit=5&before_id=m/3', ['m/0', 'm/2', false]],
  ])('%s', (query, expected) => {
    expect(ids(query)).toEqual(expected);
  });

  it('lists all models by default', () => {
    expect(ids('', Infinity)).toEqual(['m/0', 'm/29', false]);
  });

  it.each([
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=', 'limit'],
    ['after_id=nobody', 'after_id'],
    ['before_id=nobody', 'before_id'],
    ['after_id=m/1&before_id=m/3', 'before_id'],
  ])('rejects %s', (query, param) => {
    expect(refusalOf(() => ids(query))).toMatchObject({ kind: 'invalid_request', details: { param } });
  });

  it('renders models for clients of every protocol', () => {
    expect(renderModelPage(models, aRequestLine({ query: 'limit=1' }))).toEqual({
      object: 'list',
      data: [
        {
          id: 'm/0',
          object: 'model',
          created: 1767323045,
          owned_by: 'somebody',
          type: 'model',
          display_name: 'Model 0',
          created_at: '2026-01-02T03:04:05.678Z',
        },
      ],
      has_more: true,
      first_id: 'm/0',
      last_id: 'm/0',
    });
    expect(renderModelPage([], aRequestLine({}))).toEqual({
      object: 'list',
      data: [],
      has_more: false,
      first_id: null,
      last_id: null,
    });
  });
});
