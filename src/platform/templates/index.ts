// Handlebars templates of a folder, compiled once and checked at the start.
export { loadTemplates, type Templates } from './template-folder.js';
