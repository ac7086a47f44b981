import { githubApi, githubClaims, githubMetadata } from './github.js';

describe('GitHub', () => {
  it.each([
    ['https://github.com', 'https://api.github.com'],
    ['https://acme.ghe.com', 'https://api.acme.ghe.com'],
    ['https://git.acme.example/', 'https://git.acme.example/api/v3'],
    ['https://notghe.com', 'https://notghe.com/api/v3'],
  ])('has the API of %s at %s', (address, api) => {
    expect(githubApi(address)).toBe(api);
  });

  it('has the endpoints of its documentation', () => {
    expect(githubMetadata(new URL('https://github.com/'))).toMatchObject({
      authorization_endpoint: 'https://github.com/login/oauth/authorize',
      token_endpoint: 'https://github.com/login/oauth/access_token',
    });
  });

  const claims = (user: unknown, emails: unknown) =>
    githubClaims('https://github.com', ({ pathname }) =>
      Promise.resolve(Response.json(pathname === '/user' ? user : emails)),
    );
  const email = (address: string, primary: boolean, verified: boolean) => ({ email: address, primary, verified });

  it('identifies users by their numeric ID and primary address', async () => {
    const emails = [email('old@example.com', false, true), email('ann@example.com', true, true)];
    await expect(claims({ id: 583231, login: 'ann', name: 'Ann Miller' }, emails)).resolves.toEqual({
      sub: '583231',
      email: 'ann@example.com',
      email_verified: true,
      name: 'Ann Miller',
      preferred_username: 'ann',
    });
  });

  it.each([
    ['an unverified primary address', [email('ann@example.com', true, false), email('b@example.com', false, true)]],
    ['no primary address', [email('ann@example.com', false, true)]],
    ['no addresses', []],
    ['an error', { message: 'Not Found' }],
    ['addresses of another shape', [null, 'ann@example.com', { primary: true, verified: true, email: 5 }]],
  ])('has no verified address with %s', async (_, emails) => {
    const { email: address, email_verified: isVerified } = await claims({ id: 1, login: 'ann', name: null }, emails);
    expect(isVerified && address !== undefined).toBe(false);
  });

  it('uses the login of users without a name', async () => {
    await expect(claims({ id: 1, login: 'ann', name: null }, [])).resolves.toMatchObject({ name: 'ann' });
  });

  it.each([undefined, null, '583231', 0, -1, 1.5, Number.MAX_SAFE_INTEGER + 1])(
    'has no user with the ID %p',
    async (id) => {
      await expect(claims({ id }, [])).resolves.toMatchObject({ sub: '' });
    },
  );
});
