import { withoutPassword } from './settings.view.js';

describe('the address of a mail server', () => {
  it.each([
    ['smtp://relay:a%40b@mail.example.com:587', 'smtp://relay@mail.example.com:587', 'a@b'],
    ['smtps://relay:100%@mail.example.com', 'smtps://relay@mail.example.com', '100%'],
    ['smtp://relay@mail.example.com', 'smtp://relay@mail.example.com', ''],
    ['mail.example.com', 'mail.example.com', ''],
    ['', '', ''],
  ])('%s is shown without its password', (address, server, password) => {
    expect(withoutPassword(address)).toEqual({ server, password });
  });
});
