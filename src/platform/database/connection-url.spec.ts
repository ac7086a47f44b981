import { applicationName, hostUrls, withRole } from './connection-url.js';

const NAME = `application_name=${encodeURIComponent(applicationName('check')).replaceAll('%20', '+')}`;

describe('DATABASE_URL', () => {
  it.each([
    ['postgres://db/x', ['postgres://db/x']],
    ['postgresql://me:se%40cret@db:6432/x', ['postgresql://me:se%40cret@db:6432/x']],
    [
      'postgres://me:secret@one:5432,two:5433,three/x?sslmode=verify-full&target_session_attrs=read-write',
      ['one:5432', 'two:5433', 'three'].map(
        (host) => `postgres://me:secret@${host}/x?sslmode=verify-full&target_session_attrs=read-write`,
      ),
    ],
    ['postgres://[::1]:5432,[::2]:5432/x', ['postgres://[::1]:5432/x', 'postgres://[::2]:5432/x']],
    ['postgres:///x?host=/var/run/postgresql', ['postgres:///x?host=/var/run/postgresql']],
  ])('names a URL for each of its hosts: %s', (url, urls) => {
    expect(hostUrls(url)).toEqual(urls);
  });

  it.each(['postgres://one,/x', 'postgres://,two/x', 'postgres://one:port/x', 'postgres://one:1,two:port/x', 'here'])(
    'is rejected when a host is not one, without its text, which may have a password: %s',
    (url) => {
      expect(() => hostUrls(url)).toThrow(
        /^DATABASE_URL must have the form [^]*name, with further hosts after commas\.$/,
      );
    },
  );

  it('names the session for every host, and keeps other parameters', () => {
    expect(withRole('postgres://me:secret@one/x?sslmode=require', 'check')).toBe(
      `postgres://me:secret@one/x?sslmode=require&${NAME}`,
    );
    expect(hostUrls(withRole('postgres://one:1,two:2/x', 'check'))).toEqual([
      `postgres://one:1/x?${NAME}`,
      `postgres://two:2/x?${NAME}`,
    ]);
  });
});
