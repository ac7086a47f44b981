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
      const answer = await browser.post('/keys/new', { ...form, expires: '' });
      const secret = /sk-[0-9A-Za-z]{48}/.exec(answer.text)?.[0] ?? '';
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
});
