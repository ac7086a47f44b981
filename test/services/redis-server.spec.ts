import { Redis } from 'ioredis';
import { RedisServer } from '../support/redis-server.js';

describe('the Redis of these tests', () => {
  it('is a real one, that forgets everything when it is stopped', async () => {
    const server = await RedisServer.start();
    const client = new Redis(server.url, { retryStrategy: () => 50 });
    client.on('error', () => undefined);
    await client.set('name', 'value');
    await server.stop();
    await server.resume();
    await expect(client.get('name')).resolves.toBeNull();
    client.disconnect();
    await server.stop();
  });
});
