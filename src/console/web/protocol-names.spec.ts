import { protocolNames } from './protocol-names.js';

describe('protocolNames', () => {
  it('returns name, vendor, position and short name', () => {
    expect(protocolNames('chat-completions')).toEqual({
      short: 'Chat',
      name: 'Chat Completions',
      fullName: 'OpenAI Chat Completions',
      place: 1,
    });
  });

  it('derives the name from the ID, and sorts last, when the protocol is unknown', () => {
    const names = { short: 'New One', name: 'New One', fullName: 'New One', place: Infinity };
    expect(protocolNames('new-one')).toEqual(names);
  });
});
