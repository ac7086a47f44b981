// What the relay needs of Responses besides its adapters: lists of the input items of stored responses.
export { RESPONSES_PATH } from './responses.protocol.js';
export { inputItems } from './responses.stored.list.js';
export { ResponsesModule } from './responses.module.js';
