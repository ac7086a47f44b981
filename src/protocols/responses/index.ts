// Besides the adapters: lists of the input items of stored responses.
export { RESPONSES_PATH } from './protocol.js';
export { inputItems } from './stored.js';
export { ResponsesModule } from './responses.module.js';
