// Besides the adapters: input items that are stored or listed.
export { RESPONSES_PATH } from './protocol.js';
export { inputItems, requireStorable } from './stored.js';
export { ResponsesModule } from './responses.module.js';
