import { protocolNames } from './protocol-names.js';

describe('the names of dialects', () => {
  it('say whose it is, where it stands, and are short in lists', () => {
    expect(protocolNames('chat-completions')).toEqual({
      short: 'Chat',
      name: 'Chat Completions',
      fullName: 'OpenAI Chat Completions',
      place: 1,
    });
  });

  it('are made of its id for one that is not known here, which comes last', () => {
    const names = { short: 'New One', name: 'New One', fullName: 'New One', place: Infinity };
    expect(protocolNames('new-one')).toEqual(names);
  });
});
