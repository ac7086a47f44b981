// What the relay needs of Responses besides its adapters: the form of lists of stored responses.
export { RESPONSES_PATH } from './responses.protocol.js';
export { inputItems } from './responses.stored.list.js';
export { ResponsesModule } from './responses.module.js';
