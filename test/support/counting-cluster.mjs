// A primary with three workers that count, each of which tells the metrics of all on a port of its own: one line for each
// on stdout, its number, process id and port.
import 'reflect-metadata';
import './typescript-hooks.mjs';
import cluster from 'node:cluster';
import { createServer } from 'node:http';

const { WorkerLinks, PrimaryLink } = await import('../../src/platform/workers/index.ts');

if (cluster.isPrimary) {
  const { serveMetrics } = await import('../../src/app/monitoring/index.ts');
  serveMetrics(new WorkerLinks());
  for (let worker = 0; worker < 3; worker += 1) cluster.fork();
  process.on('disconnect', () => process.exit());
} else {
  const { Metrics } = await import('../../src/platform/metrics/index.ts');
  const { Scrape } = await import('../../src/app/monitoring/scrape.ts');
  const metrics = new Metrics();
  metrics.gauge('processes', 'those that answer').set(1);
  metrics.counter('counted_total', 'ten to the power of the number').inc(10 ** cluster.worker.id);
  const scrape = new Scrape(metrics, new PrimaryLink());
  const server = createServer((_request, response) => void scrape.text().then((text) => response.end(text)));
  server.listen({ port: 0, host: '127.0.0.1', exclusive: true }, () => {
    process.stdout.write(`${cluster.worker.id} ${process.pid} ${server.address().port}\n`);
  });
}
