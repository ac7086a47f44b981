import { AppError } from '../../platform/shared/index.js';
import { inputItems } from './stored.js';

const INPUT = [
  { role: 'user', content: 'a' },
  { type: 'message', id: 'msg_1' },
  { type: 'function_call', id: 'fc_1' },
];
const ids = (query: string, input: readonly object[] = INPUT): unknown => {
  const { data } = inputItems('resp_7', input as never, new URLSearchParams(query));
  return (data as readonly { id: string }[]).map(({ id }) => id);
};

describe('the items that a response was an answer to', () => {
  it('are listed newest first, each with a type and an id, always the same', () => {
    expect(inputItems('resp_7', INPUT, new URLSearchParams())).toEqual({
      object: 'list',
      data: [
        { type: 'function_call', id: 'fc_1' },
        { type: 'message', id: 'msg_1' },
        { type: 'message', id: 'item_7_0', role: 'user', content: 'a' },
      ],
      first_id: 'fc_1',
      last_id: 'item_7_0',
      has_more: false,
    });
  });

  it('are listed in their order when that is asked for, so many, and from behind one of them', () => {
    expect(ids('order=asc')).toEqual(['item_7_0', 'msg_1', 'fc_1']);
    expect(ids('limit=2')).toEqual(['fc_1', 'msg_1']);
    expect(ids('after=msg_1')).toEqual(['item_7_0']);
    expect(ids('after=item_7_0')).toEqual([]);
    expect(inputItems('resp_7', INPUT, new URLSearchParams('limit=2'))).toMatchObject({ has_more: true });
    expect(inputItems('resp_7', INPUT, new URLSearchParams('limit=2&after=fc_1'))).toMatchObject({ has_more: false });
  });

  it('are twenty at a time unless the query says otherwise', () => {
    const many = Array.from({ length: 30 }, (_, index) => ({ type: 'message', id: `msg_${index}` }));
    expect(ids('', many)).toHaveLength(20);
    expect(ids('limit=100', many)).toHaveLength(30);
  });

  it('are none of a response without input', () => {
    expect(inputItems('resp_7', [], new URLSearchParams())).toEqual({
      object: 'list',
      data: [],
      first_id: null,
      last_id: null,
      has_more: false,
    });
  });

  it.each([
    ['order=up', 'order'],
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=x', 'limit'],
    ['after=msg_none', 'after'],
  ])('are refused for %s', (query, param) => {
    expect(() => ids(query)).toThrow(
      expect.objectContaining({ kind: 'invalid_request', details: { param, fault: 'invalid_value' } }),
    );
    expect(() => ids(query)).toThrow(AppError);
  });
});
