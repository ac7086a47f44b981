import { dumpOf } from '../support/database-dump.js';
import { PageVisitor } from '../support/page-visitor.js';
import { Service } from '../support/service.js';

describe('the log of a service', () => {
  it('has nothing of a key that was made, shown and used', async () => {
    const service = await Service.start(undefined, { LOG_LEVEL: 'trace' });
    try {
      const password = 'violet kettle umbrella';
      await service.command('account', 'create', '--email', 'ann@example.com', '--verified', '--password', password);
      const browser = new PageVisitor(service.address);
      expect((await browser.signIn('ann@example.com', password)).status).toBe(303);
      const page = await browser.get('/keys/new');
      const once = /name="_once" value="([^"]+)"/.exec(page.text)?.[1] ?? '';
      const form = { _once: once, name: 'secret', group: 'default', quota: '', daily: '', weekly: '', monthly: '' };
      const response = await browser.post('/keys/new', { ...form, expires: '' });
      const secret = /sk-[0-9A-Za-z]{48}/.exec(response.text)?.[0] ?? '';
      expect(secret).not.toBe('');
      const models = await fetch(`${service.address}/v1/models`, { headers: { authorization: `Bearer ${secret}` } });
      expect(models.status).toBe(200);
      await browser.post('/keys/new', { ...form, expires: '' });
      await browser.get('/keys');
      expect(service.output).toContain('/v1/models');
      expect(service.output).not.toContain(secret.slice(7, -4));
    } finally {
      await service.remove();
    }
  }, 120_000);

  it('masks a key in the path or query of a request, in error messages and in the database too', async () => {
    const service = await Service.start(undefined, { LOG_LEVEL: 'trace' });
    try {
      const password = 'violet kettle umbrella';
      await service.command('account', 'create', '--email', 'ann@example.com', '--verified', '--password', password);
      const made = await service.command('key', 'create', '--email', 'ann@example.com', '--name', 'secret');
      const secret = /sk-[0-9A-Za-z]{48}/.exec(made.stdout)?.[0] ?? '';
      expect(secret).not.toBe('');
      const encoded = `%73k%2D${secret.slice(3)}`;
      const said: string[] = [];
      const paths = [
        `/v1/${secret}/models`,
        `/v1/${encoded}/models`,
        `/v1/${secret}/%zz`,
        `/v1/models/${secret}`,
        `/v1/generations/${secret}`,
        `/v1/responses/${secret}`,
        `/v1/models?key=${secret}`,
        `/v1/models?limit=${secret}`,
        `/v1/models?after_id=${secret}`,
        `/v1/chat/completions?key=${secret}`,
        `/v1/messages?key=${secret}`,
        `/v1beta/models?key=${secret}`,
        `/v1beta/models/none:generateContent?alt=sse&key=${secret}`,
        `/v1beta/models/none:generateContent?%6bey=${secret}`,
        `/v1beta/models/${secret}:generateContent`,
        `/v1beta/${secret}?key=${secret}`,
        `/${secret}`,
        `/keys/${secret}`,
      ];
      for (const path of paths)
        for (const method of ['GET', 'POST', 'DELETE'])
          for (const headers of [
            { authorization: `Bearer ${secret}` },
            { 'x-api-key': 'sk-none' },
            { accept: 'text/html' },
          ]) {
            const body = method === 'POST' ? { body: JSON.stringify({ model: 'none', messages: [] }) } : {};
            const response = await fetch(`${service.address}${path}`, { method, headers, ...body, redirect: 'manual' });
            const text = await response.text();
            // Pages link back to the address that their visitor has typed.
            if (path.startsWith('/v1')) said.push(text);
          }
      said.push(await (await fetch(`${service.address}/metrics`)).text());
      said.push(await dumpOf((sql) => service.query(sql)), service.output);
      expect(service.output).toContain('/v1/sk-…');
      const hidden = secret.slice(7, -4);
      expect(said.filter((text) => text.includes(hidden)).map((text) => text.slice(0, 300))).toEqual([]);
    } finally {
      await service.remove();
    }
  }, 120_000);
});
