// A process that admits one call, as the message it is sent has it, and settles it when it is sent the finished row; then
// it ends. Its times are those of its first message. For what only a process of its own can do: stand still.
import 'reflect-metadata';
import './typescript-hooks.mjs';

const { TestProcess } = await import('./sweep-bench.ts');
let worker;
const orders = {
  start: async ({ url, times }) => {
    worker = await TestProcess.start({ url, drop: () => Promise.resolve() }, times);
    return worker.self.id;
  },
  admit: async (request) => (await worker.billing.admit([request]))[0].outcome,
  settle: async (row) => String((await worker.billing.settle([row]))[0]),
  end: async () => {
    await worker.close();
    return 'ended';
  },
};
const obey = async (order, argument) => {
  process.send(await orders[order](argument));
  if (order === 'end') process.disconnect();
};
process.on('message', ([order, argument]) => void obey(order, argument));
