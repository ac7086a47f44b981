// Loaded into a measured program by `--import`, in the few scenarios that look inside: answers over a local socket what
// its memory is after a forced collection and how late its event loop was.
import { createServer, type Socket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';

const delay = monitorEventLoopDelay({ resolution: 1 });

function answer(question: string): object {
  switch (question) {
    case 'memory':
      // Also what V8 keeps for later: how much that is depends on the moment.
      globalThis.gc?.({ execution: 'sync', flavor: 'last-resort', type: 'major' });
      return process.memoryUsage();
    case 'watch':
      delay.enable();
      delay.reset();
      return {};
    case 'delay':
      delay.disable();
      return { p99Ms: delay.percentile(99) / 1e6, maxMs: delay.max / 1e6 };
    default:
      return {};
  }
}

function serve(socket: Socket): void {
  socket.unref();
  socket.once('data', (question) => socket.end(JSON.stringify(answer(question.toString()))));
}

createServer(serve).listen(process.env['BENCH_PROBE']).unref();
