// Search across the console: pages, docs, own keys, models, calls by request ID; for administrators, users.
export { SearchModule } from './search.controller.js';
