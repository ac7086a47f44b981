import { withoutPassword } from './settings.view.js';

describe('withoutPassword', () => {
  it.each([
    ['smtp://relay:a%40b@mail.example.com:587', 'smtp://relay@mail.example.com:587', 'a@b'],
    ['smtps://relay:100%@mail.example.com', 'smtps://relay@mail.example.com', '100%'],
    ['smtp://relay@mail.example.com', 'smtp://relay@mail.example.com', ''],
    ['mail.example.com', 'mail.example.com', ''],
    ['', '', ''],
  ])('removes the password from %s', (address, server, password) => {
    expect(withoutPassword(address)).toEqual({ server, password });
  });
});
